// Imported by file: Bun replaces the name 'undici' with a module of its own, which connects to nothing.
import { type buildConnector, Client, type Dispatcher } from 'undici/index.js';

import { RelayError } from '../../client/relay.error.js';
import { ClosedError } from '../../common/relay.errors.js';
import { withoutInterim } from './interim.filter.js';
import { unannounced } from './untraced.js';
import {
  MAX_RESPONSE_BYTES,
  type TargetRequest,
  type TargetTransport,
  type WebhookResponse,
} from './webhook-transport.interface.js';
import type { WebhookTarget } from './webhook-target.js';

/** Maximum time that an idle connection is kept if the receiver asks for it, in ms; otherwise 4 s. */
const MAX_KEEP_ALIVE = 10_000;

/** Shared, because undici would make an error, with its stack, for each connection that is closed. */
const CLOSED = new ClosedError('the connection was closed');

/** The default transport: a keep-alive connection of undici. */
export class UndiciTransport implements TargetTransport {
  private readonly client: Client;

  constructor(
    private readonly target: WebhookTarget,
    connect: buildConnector.connector,
  ) {
    // ConnectionPool sets one deadline for the exchange: undici's two timeouts would let a slowly dripping answer stay
    // open.
    this.client = new Client(target.origin, {
      connect: withoutInterim(connect),
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE,
    });
  }

  post({ headers, body }: TargetRequest): Promise<WebhookResponse> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(resolve, reject);
      unannounced(() => {
        this.client.dispatch({ path: this.target.path, method: 'POST', headers, body }, exchange);
      });
    });
  }

  close(reason: Error = CLOSED): Promise<void> {
    return this.client.destroy(reason);
  }
}

/** Handles one request without storing what the receiver sends. */
class Exchange implements Dispatcher.DispatchHandler {
  private response: WebhookResponse = { status: 0 };
  private size = 0;

  constructor(
    private readonly resolve: (response: WebhookResponse) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  /** Without this method, undici would use the handler interface of its older versions. */
  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.response = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size <= MAX_RESPONSE_BYTES) return;
    this.onResponseEnd();
    controller.abort(new RelayError('response_too_long', 'the response is too long'));
  }

  onResponseEnd(): void {
    this.resolve(this.response);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.reject(error);
  }
}
