import type { buildConnector } from 'undici';

import { untraced } from '../../client/telemetry/trace-context.js';
import { ClosedError } from '../../common/relay.errors.js';
import type { TargetRequest, TargetTransport, TargetResponse } from './webhook-transport.interface.js';

/** Creates the transport of one connection, which gets its socket from the connector. */
export type ConnectionTransport = (connect: buildConnector.connector) => TargetTransport;

/** A connection to one URL, with its own transport. It tracks whether its socket is open. */
export class ReceiverConnection {
  private readonly transport: TargetTransport;
  /** Number of sockets that are connecting or open. */
  private sockets = 0;
  private closed = false;
  /** Number of requests made on it. */
  exchanges = 0;
  /** When it was last parked, in ms of `performance.now()`. */
  idleSince = 0;

  /** @param onGone called when its socket has closed, from either side */
  constructor(
    connect: buildConnector.connector,
    create: ConnectionTransport,
    private onGone: () => void,
  ) {
    this.transport = create((options, callback) => {
      this.sockets++;
      const connected: buildConnector.Callback = (...[error, socket]) => {
        if (error) {
          this.leave();
          return callback(error, null);
        }
        socket.once('close', () => this.leave());
        if (!this.closed) return callback(null, socket);
        socket.destroy();
        callback(new ClosedError('the connection was closed'), null);
      };
      untraced(() => connect(options, connected));
    });
  }

  get isOpen(): boolean {
    return this.sockets > 0;
  }

  /** @see TargetTransport.post */
  post(request: TargetRequest): Promise<TargetResponse> {
    this.exchanges++;
    return this.transport.post(request);
  }

  /**
   * Drops the connection; a pending request rejects. Once no socket is left, `onClosed` is called instead of `onGone`.
   */
  close(onClosed: () => void, reason?: Error): Promise<void> {
    this.closed = true;
    this.onGone = onClosed;
    const closing = this.transport.close(reason);
    if (!this.isOpen) this.onGone();
    return closing;
  }

  private leave(): void {
    if (--this.sockets === 0) this.onGone();
  }
}
