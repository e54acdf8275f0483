import type { BatchAnswer, BatchTransport } from '../client/delivery/batch-transport.interface.js';
import type { SerializedMessage } from '../client/message/serialized-message.js';
import type { InProcessIngest } from '../webhook-destination/ingest/in-process-ingest.interface.js';

/** Passes batches to the `WebhookDestinationModule` of the same application. Every rejection is retried. */
export class InProcessTransport implements BatchTransport {
  readonly envelopeBytes = 0;
  readonly #writeKey: string;

  constructor(
    private readonly ingest: InProcessIngest,
    writeKey: string,
    /** Release of the application. */
    private readonly release: string | undefined,
  ) {
    this.#writeKey = writeKey;
  }

  get source(): string | undefined {
    return this.ingest.sourceNameOf(this.#writeKey);
  }

  async send(messages: readonly SerializedMessage[]): Promise<BatchAnswer> {
    const { rejected } = await this.ingest.acceptRecorded(this.#writeKey, messages, this.release);
    return { rejected };
  }
}
