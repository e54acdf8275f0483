import type { HTTPClient, HTTPClientRequest, HTTPResponse } from '../client/index.js';

/** Stands in for the HTTP client until the application's modules are known; requests wait for the choice. */
export class DeferredHttpClient implements HTTPClient {
  private choose!: (client: HTTPClient) => void;
  private readonly chosen = new Promise<HTTPClient>((resolve) => {
    this.choose = resolve;
  });

  /** Makes all requests, those that wait included, with this client; the first choice stays. */
  use(client: HTTPClient): void {
    this.choose(client);
  }

  async makeRequest(request: HTTPClientRequest): Promise<HTTPResponse> {
    return (await this.chosen).makeRequest(request);
  }
}
