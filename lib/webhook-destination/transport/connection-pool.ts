import type { buildConnector } from 'undici';

import { Fifo } from '../../client/delivery/fifo.js';
import { RelayError } from '../../client/relay.error.js';
import { startDeadline } from '../../client/timer.limits.js';
import { ClosedError } from '../../common/relay.errors.js';
import { type ConnectionTransport, ReceiverConnection } from './receiver-connection.js';
import type { SocketBudget } from './socket-budget.js';
import type { TargetRequest, TargetResponse } from './webhook-transport.interface.js';

/** A request for a pool. One of `answer` and `fail` is called once; neither may throw. */
export interface PooledRequest {
  /**
   * Creates the request once there is a connection for it; if it throws, the request is not made.
   * @param waited how much of the timeout has elapsed, in ms
   */
  prepare(waited: number): TargetRequest;
  answer(response: TargetResponse): void;
  fail(error: unknown): void;
}

/** A request that waits for a connection or is in progress. */
interface PendingRequest {
  request: PooledRequest;
  /** When its timeout started, in ms of `performance.now()`. */
  startedAt: number;
  /** Set once its timeout has started. */
  stopDeadline: (() => void) | undefined;
  expired: boolean;
  connection: ReceiverConnection | undefined;
}

/** The keep-alive connections to one URL, opened on demand within the budget of the process. */
export class ConnectionPool {
  private readonly connections = new Set<ReceiverConnection>();
  /** Idle connections. The last one used is reused first, so surplus connections reach their keep-alive timeout. */
  private readonly idle: ReceiverConnection[] = [];
  private readonly waiting = new Fifo<PendingRequest>();
  private closed = false;

  /** Number of connections in use. */
  busy = 0;

  /**
   * @param size maximum number of connections
   * @param timeout time limit of an exchange, in ms
   */
  constructor(
    private readonly budget: SocketBudget,
    private readonly connect: buildConnector.connector,
    private readonly create: ConnectionTransport,
    private readonly size: number,
    private readonly timeout: number,
  ) {}

  /**
   * Makes a request once there is a connection for it. Waiting for the budget of the process does not count towards the
   * timeout; waiting for one of `size` connections does, because the same receiver occupies them.
   */
  post(request: PooledRequest): void {
    const pending: PendingRequest = {
      request,
      startedAt: 0,
      stopDeadline: undefined,
      expired: false,
      connection: undefined,
    };
    if (this.hasIdle && this.waiting.length === 0) {
      this.busy++;
      void this.exchange(pending, this.takeIdle()!);
      return;
    }
    this.waiting.push(pending);
    if (this.busy >= this.size) this.startTime(pending);
    else this.budget.request(this);
  }

  /** Fails the requests that wait for a connection. */
  endWaits(reason: Error): void {
    this.budget.withdraw(this);
    for (const { stopDeadline, expired, request } of this.waiting.drain()) {
      stopDeadline?.();
      if (!expired) request.fail(reason);
    }
  }

  /** Drops all connections; pending requests fail. */
  async close(): Promise<void> {
    this.closed = true;
    this.endWaits(new ClosedError('the connections were closed'));
    for (const connection of this.idle.splice(0)) this.budget.unpark(connection);
    await Promise.all([...this.connections].map((connection) => this.end(connection)));
  }

  /** Whether a request waits for a connection and `size` allows one more. */
  get wants(): boolean {
    return this.busy < this.size && this.hasWaiting;
  }

  get hasIdle(): boolean {
    return this.idle.length > 0;
  }

  get hasSpare(): boolean {
    return this.connections.size > 1;
  }

  /** Takes the next request, with an idle connection if there is one; returns a function that starts it. */
  next(): () => void {
    this.busy++;
    const pending = this.waiting.shift()!;
    const connection = this.takeIdle();
    return () => void this.exchange(pending, connection ?? this.open());
  }

  /** Closes an idle connection; `onClosed` is called when another may take its place. */
  closeIdle(connection: ReceiverConnection, onClosed: () => void): void {
    this.removeIdle(connection);
    this.connections.delete(connection);
    void connection.close(onClosed);
  }

  private get hasWaiting(): boolean {
    while (this.waiting.peek()?.expired) this.waiting.shift();
    return this.waiting.length > 0;
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

  /** Makes a request on a connection. Never rejects. */
  private async exchange(pending: PendingRequest, connection: ReceiverConnection): Promise<void> {
    let isUsable = true;
    let response: TargetResponse | undefined;
    let fault: unknown;
    try {
      if (this.closed || pending.expired) throw new ClosedError('the connections were closed');
      const message = pending.request.prepare(pending.stopDeadline ? performance.now() - pending.startedAt : 0);
      isUsable = false;
      pending.connection = connection;
      if (!pending.stopDeadline) this.startTime(pending);
      response = await connection.post(message);
      isUsable = true;
    } catch (error) {
      fault = error;
      // Unwinds the stack: thousands of requests may be declined one after another.
      if (isUsable) await Promise.resolve();
    }
    pending.stopDeadline?.();
    // An answer may hold back the requests that wait, so it counts before one of them is made on its connection. If none
    // waits, the connection is free first: the next request may be made while the answer is handled.
    const isAwaited = isUsable && this.hasWaiting;
    if (!isAwaited) this.free(connection, isUsable);
    if (response && !pending.expired) pending.request.answer(response);
    else if (!pending.expired) pending.request.fail(fault);
    if (isAwaited) this.free(connection, isUsable);
  }

  /** Frees a connection after an exchange. */
  private free(connection: ReceiverConnection, isUsable: boolean): void {
    if (isUsable && connection.isOpen && !this.closed) this.park(connection);
    else void this.end(connection);
  }

  /** Sets one deadline for the wait and the exchange, independent of the transport. */
  private startTime(pending: PendingRequest): void {
    pending.startedAt = performance.now();
    pending.stopDeadline = startDeadline(this.timeout, () => this.expire(pending));
  }

  private expire(pending: PendingRequest): void {
    const error = new RelayError('webhook_timeout', `timeout: no complete answer within ${this.timeout} ms`);
    pending.expired = true;
    if (pending.connection) void this.end(pending.connection, error);
    pending.request.fail(error);
  }

  /** Uses a connection for the next request, or keeps it idle. */
  private park(connection: ReceiverConnection): void {
    if (this.hasWaiting && this.budget.mayReuse(connection, this)) {
      void this.exchange(this.waiting.shift()!, connection);
      return;
    }
    this.busy--;
    this.idle.push(connection);
    this.budget.park(connection, this);
    if (!this.wants) return;
    if (this.hasIdle) this.next()();
    else this.budget.request(this);
  }

  /** Closes a connection that was in use. */
  private end(connection: ReceiverConnection, reason?: Error): Promise<void> {
    const onClosed = () => {
      if (!this.connections.delete(connection)) return;
      this.busy--;
      this.budget.release();
      if (this.wants) this.budget.request(this);
    };
    return connection.close(onClosed, reason);
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
}
