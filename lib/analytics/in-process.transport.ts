import type { BatchAnswer, BatchTransport } from '../client/delivery/batch-transport.interface.js';
import type { InProcessIngest } from '../webhook-destination/ingest/in-process-ingest.interface.js';

const write = (events: string): string => `{"batch":[${events}]}`;

/** Passes batches to the `WebhookDestinationModule` of the same application. Every rejection is retried. */
export class InProcessTransport implements BatchTransport {
  readonly envelopeBytes = write('').length;
  readonly #writeKey: string;

  constructor(
    private readonly ingest: InProcessIngest,
    writeKey: string,
  ) {
    this.#writeKey = writeKey;
  }

  get source(): string | undefined {
    return this.ingest.sourceNameOf(this.#writeKey);
  }

  async send(events: string): Promise<BatchAnswer> {
    const { rejected } = await this.ingest.acceptBatch(this.#writeKey, write(events));
    return { rejected };
  }
}
