import type { buildConnector } from 'undici';

import { Fifo } from '../../client/delivery/fifo.js';
import { ClosedError } from '../../common/relay.errors.js';
import { type ConnectionTransport, ReceiverConnection } from './receiver.connection.js';
import type { SocketBudget, SocketHolder } from './socket.budget.js';
import { type TargetRequest, type WebhookResponse, timeoutError } from './webhook-transport.interface.js';

/** Makes the request once there is a connection for it. `waited` is the part of the timeout that has elapsed, in ms. */
export type PrepareRequest = (waited: number) => TargetRequest;

interface WaitingRequest {
  prepare: PrepareRequest;
  resolve: (response: Promise<WebhookResponse>) => void;
  reject: (error: unknown) => void;
  /** When it began to wait for the pool's own connections, in ms of `performance.now()`; undefined if it did not. */
  waitsSince: number | undefined;
  deadline: NodeJS.Timeout | undefined;
  expired: boolean;
}

/** The keep-alive connections to one URL, opened on demand within the budget of the process. */
export class ConnectionPool implements SocketHolder {
  private readonly connections = new Set<ReceiverConnection>();
  /** The last one used is reused first, so that surplus connections reach their keep-alive timeout. */
  private readonly idle: ReceiverConnection[] = [];
  private readonly waiting = new Fifo<WaitingRequest>();
  private closed = false;

  busy = 0;

  /**
   * @param size connections at most
   * @param timeout longest exchange, in ms
   */
  constructor(
    private readonly budget: SocketBudget,
    private readonly connect: buildConnector.connector,
    private readonly create: ConnectionTransport,
    private readonly size: number,
    private readonly timeout: number,
  ) {}

  /**
   * Resolves with any answer. Waiting for the budget of the process does not count towards the timeout; waiting for one
   * of `size` connections does, because they are in use by the same receiver.
   */
  post(prepare: PrepareRequest): Promise<WebhookResponse> {
    if (this.hasIdle && this.waiting.length === 0 && this.budget.admits(this)) {
      this.busy++;
      return this.exchange(this.takeIdle()!, prepare, 0);
    }
    return new Promise((resolve, reject) => {
      const isFull = this.busy >= this.size;
      const request: WaitingRequest = {
        prepare,
        resolve,
        reject,
        waitsSince: isFull ? performance.now() : undefined,
        deadline: isFull ? setTimeout(() => this.expire(request), this.timeout) : undefined,
        expired: false,
      };
      this.waiting.push(request);
      if (!isFull) this.budget.request(this);
    });
  }

  /** Drops all connections; pending requests reject. */
  async close(): Promise<void> {
    this.closed = true;
    this.budget.withdraw(this);
    for (const { deadline, reject } of this.waiting.drain()) {
      clearTimeout(deadline);
      reject(new ClosedError('the connections were closed'));
    }
    for (const connection of this.idle.splice(0)) this.budget.unpark(connection);
    await Promise.all([...this.connections].map((connection) => this.end(connection)));
  }

  get wants(): boolean {
    while (this.waiting.peek()?.expired) this.waiting.shift();
    return this.waiting.length > 0 && this.busy < this.size;
  }

  get hasIdle(): boolean {
    return this.idle.length > 0;
  }

  next(): () => void {
    this.busy++;
    const { prepare, resolve, deadline, waitsSince } = this.waiting.shift()!;
    clearTimeout(deadline);
    const connection = this.takeIdle();
    return () => {
      const waited = waitsSince === undefined ? 0 : performance.now() - waitsSince;
      resolve(this.exchange(connection ?? this.open(), prepare, waited));
    };
  }

  giveUp(connection: ReceiverConnection, onClosed: () => void): void {
    this.removeIdle(connection);
    this.connections.delete(connection);
    void connection.close(onClosed);
  }

  private open(): ReceiverConnection {
    const connection = new ReceiverConnection(this.connect, this.create, () => {
      // A connection in use is handled at the end of its exchange.
      if (!this.removeIdle(connection)) return;
      this.connections.delete(connection);
      this.budget.release();
    });
    this.connections.add(connection);
    return connection;
  }

  private async exchange(
    connection: ReceiverConnection,
    prepare: PrepareRequest,
    waited: number,
  ): Promise<WebhookResponse> {
    let isUsable = true;
    try {
      if (this.closed) throw new ClosedError('the connections were closed');
      const request = prepare(waited);
      isUsable = false;
      const response = await connection.post(request, waited);
      isUsable = true;
      return response;
    } finally {
      if (isUsable && connection.isOpen && !this.closed) this.park(connection);
      else void this.end(connection);
    }
  }

  private park(connection: ReceiverConnection): void {
    this.busy--;
    this.idle.push(connection);
    this.budget.park(connection, this);
    if (this.wants) this.budget.request(this);
  }

  /** Closes a connection that was in use. */
  private end(connection: ReceiverConnection): Promise<void> {
    return connection.close(() => {
      if (!this.connections.delete(connection)) return;
      this.busy--;
      this.budget.release();
      if (this.wants) this.budget.request(this);
    });
  }

  private takeIdle(): ReceiverConnection | undefined {
    const connection = this.idle.pop();
    if (connection) this.budget.unpark(connection);
    return connection;
  }

  private removeIdle(connection: ReceiverConnection): boolean {
    const index = this.idle.indexOf(connection);
    if (index < 0) return false;
    this.idle.splice(index, 1);
    this.budget.unpark(connection);
    return true;
  }

  private expire(request: WaitingRequest): void {
    request.expired = true;
    request.reject(timeoutError(this.timeout));
  }
}
