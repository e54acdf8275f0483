import { type Channel, channel } from 'node:diagnostics_channel';

// Imported by file: Bun replaces the name 'undici' with a module of its own, which connects to nothing.
import { type buildConnector, Client, type Dispatcher } from 'undici/index.js';

import { RelayError } from '../../client/relay.error.js';
import { ClosedError } from '../../common/relay.errors.js';
import { AnswerReader, readingAnswers } from './answer.reader.js';
import {
  KEPT_BYTES,
  MAX_RESPONSE_BYTES,
  type TargetRequest,
  type TargetResponse,
  type TargetTransport,
} from './webhook-transport.interface.js';
import type { WebhookTarget } from './webhook-target.js';

/** Maximum time that an idle connection is kept if the receiver asks for it, in ms; otherwise 4 s. */
const MAX_KEEP_ALIVE = 10_000;

/** Shared, because undici would make an error, with its stack, for each connection that is closed. */
const CLOSED = new ClosedError('the connection was closed');

/** Channel on which undici announces each request before it is sent, and agents add headers to it. */
const created = channel('undici:request:create');

/** Whether the relay makes the current request. */
let isOwn = false;
let isGuarded = false;

/** The default transport: a keep-alive connection of undici. */
export class UndiciTransport implements TargetTransport {
  /** Reads the answers of the current connection. */
  reader = new AnswerReader();
  isClosed = false;
  private readonly client: Client;

  constructor(
    private readonly target: WebhookTarget,
    connect: buildConnector.connector,
  ) {
    // ConnectionPool sets one deadline for the exchange: undici's two timeouts would let a slowly dripping answer stay
    // open.
    this.client = new Client(target.origin, {
      connect: readingAnswers(connect, (reader) => (this.reader = reader)),
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_RESPONSE_BYTES,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE,
    });
  }

  post(request: TargetRequest): Promise<TargetResponse> {
    return new Promise((resolve, reject) => this.dispatch(new Exchange(this, request, resolve, reject)));
  }

  dispatch(exchange: Exchange): void {
    const { headers, body } = exchange.request;
    unannounced(() => this.client.dispatch({ path: this.target.path, method: 'POST', headers, body }, exchange));
  }

  close(reason: Error = CLOSED): Promise<void> {
    this.isClosed = true;
    return this.client.destroy(reason);
  }
}

/** Handles one request. Of what the receiver sends, it stores the beginning of an answer other than 2xx. */
class Exchange implements Dispatcher.DispatchHandler {
  private response: TargetResponse = { status: 0 };
  private size = 0;
  private beginning: Buffer[] | undefined;
  private isSent = false;
  private isRepeated = false;

  constructor(
    private readonly transport: UndiciTransport,
    readonly request: TargetRequest,
    private readonly resolve: (response: TargetResponse) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  /** Called immediately before the request is written. */
  onRequestStart(): void {
    this.isSent = true;
    this.transport.reader.begin();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.response = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.response.status >= 300 && this.size < KEPT_BYTES) {
      // A copy: a part would keep the memory of all that was read at once.
      (this.beginning ??= []).push(Buffer.from(chunk.subarray(0, KEPT_BYTES - this.size)));
    }
    this.size += chunk.length;
    if (this.size <= MAX_RESPONSE_BYTES) return;
    this.onResponseEnd();
    controller.abort(new RelayError('response_too_long', 'the response is too long'));
  }

  onResponseEnd(): void {
    this.resolve(this.read ?? this.response);
  }

  onResponseError(_controller: Dispatcher.DispatchController, fault: Error): void {
    const { reader, isClosed } = this.transport;
    // What it has read then belongs to the request before.
    if (!this.isSent) reader.begin();
    if (reader.answer) {
      this.resolve({ ...(this.read ?? reader.answer), fault });
    } else if (reader.isReused && !this.isRepeated && !isClosed) {
      // Some receivers close the connection after each answer without saying so. undici then opens another one.
      this.isRepeated = true;
      this.isSent = false;
      queueMicrotask(() => this.transport.dispatch(this));
    } else {
      this.reject(fault);
    }
  }

  /** The answer, if it is other than 2xx and its body has begun. */
  private get read(): TargetResponse | undefined {
    const { response, beginning, size, request } = this;
    return beginning && { ...response, body: Buffer.concat(beginning), size, sent: request.headers };
  }
}

/**
 * Makes a request that undici does not announce: no agent creates a span for it or adds headers.
 *
 * @param dispatch makes the request synchronously
 */
function unannounced(dispatch: () => void): void {
  if (!created.hasSubscribers) return dispatch();
  guard();
  isOwn = true;
  try {
    dispatch();
  } finally {
    isOwn = false;
  }
}

/** Makes the channel omit the relay's requests, because only the channel knows its subscribers. */
function guard(): void {
  if (isGuarded) return;
  isGuarded = true;
  // The other build of the package may have replaced it already. Otherwise it is the prototype's, which changes with
  // the number of subscribers.
  const earlier = Object.getOwnPropertyDescriptor(created, 'publish')?.value as Channel['publish'] | undefined;
  created.publish = (message) => {
    if (!isOwn) (earlier ?? (Object.getPrototypeOf(created) as Channel).publish).call(created, message);
  };
}
