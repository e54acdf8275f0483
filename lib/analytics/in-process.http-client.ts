import type { HTTPClient, HTTPClientRequest, HTTPResponse } from '../client/index.js';
import type { InProcessIngest } from '../webhook-destination/ingest/in-process-ingest.interface.js';

/**
 * Hands batches to the `WebhookDestinationModule` of the same application: no HTTP hop.
 * Its answer counts as that of the endpoint, so that retries and callbacks are the same.
 */
export class InProcessHttpClient implements HTTPClient {
  readonly #writeKey: string;

  constructor(
    private readonly ingest: InProcessIngest,
    writeKey: string,
  ) {
    this.#writeKey = writeKey;
  }

  async makeRequest({ body }: HTTPClientRequest): Promise<HTTPResponse> {
    await this.ingest.acceptBatch(this.#writeKey, body);
    return { status: 200, statusText: 'OK' };
  }
}
