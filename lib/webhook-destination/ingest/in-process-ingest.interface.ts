import type { AcceptResult } from './ingest.result.js';

/** Records events in the same process, and must have handed over the last of them before the queue closes. */
export interface InProcessProducer {
  /** Events that were lost before they were handed over. */
  readonly lostCount?: number;
  /** Hands over what it still holds; resolves when that is done. */
  drain(): Promise<void>;
}

/** The endpoint as seen from the same application: the same rules, and no HTTP. */
export interface InProcessIngest {
  /** Names of the sources whose write keys it knows. */
  readonly sourceNames: readonly string[];
  /** Name of the source that has the write key, as far as it is known. */
  sourceNameOf(writeKey: string): string | undefined;
  /** Registers a producer, or answers false when no source has its write key. */
  attach(writeKey: string, producer: InProcessProducer): boolean;
  /** Takes what the body of a `POST /v1/batch` holds, `{ batch }`, as JSON; resolves once the valid messages are in the queue, durably. */
  acceptBatch(writeKey: string, json: string): Promise<AcceptResult>;
}

/** Where the application's in-process endpoint is found; the same for both builds of the package. */
export const IN_PROCESS_INGEST = Symbol.for('nestjs-analytics-relay:in-process-ingest');
