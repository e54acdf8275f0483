import type { SerializedMessage } from '../../client/message/serialized-message.js';
import type { EventClass } from '../../common/event-class/event-definition.js';
import type { AcceptResult } from './ingest.result.js';

/** Records events in the same process. It must pass on its last events before the queue closes. */
export interface InProcessProducer {
  /** Number of events lost before they reached ingest. */
  readonly lostCount?: number;
  /** Event classes of its tracking plan. */
  readonly eventClasses?: readonly EventClass[];
  /** Passes on all remaining events; resolves when done. */
  drain(): Promise<void>;
}

/** The endpoint for the same application: the same rules, without HTTP. */
export interface InProcessIngest {
  /** Names of the known sources. */
  readonly sourceNames: readonly string[];
  /** Returns the name of the source with the write key; undefined if it is not known. */
  sourceNameOf(writeKey: string): string | undefined;
  /** Registers a producer; returns false if no source has its write key. */
  attach(writeKey: string, producer: InProcessProducer): boolean;
  /**
   * Accepts messages that were recorded in this process. Resolves once the valid ones are stored durably in the queue.
   * With a transaction, all are written in it, or none.
   *
   * @param release of the application, stored with the messages
   */
  acceptRecorded(
    writeKey: string,
    messages: readonly SerializedMessage[],
    release?: string,
    transaction?: unknown,
  ): Promise<AcceptResult>;
  /** Whether messages can be written in transactions of the application. */
  readonly joinsTransactions: boolean;
}

/** Injection token of the in-process endpoint; the same for both builds of the package. */
export const IN_PROCESS_INGEST = Symbol.for('nestjs-analytics-relay:in-process-ingest');
