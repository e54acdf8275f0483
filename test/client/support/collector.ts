import * as http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Message } from 'nestjs-analytics-relay/client';

/** A request as it arrived on the wire. */
export interface Received {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  raw: string;
  body: { batch: Message[]; writeKey: string; sentAt: string };
  at: number;
}

/** What the collector answers: a status, an answer, or whatever a function does with the response. */
export type Answer =
  | number
  | { status: number; headers?: http.OutgoingHttpHeaders; body?: string }
  | ((response: http.ServerResponse, request: Received) => void);

/** A collection service on loopback that keeps what it receives and answers as it is told. */
export class Collector {
  readonly requests: Received[] = [];
  readonly sockets = new Set<Socket>();
  connections = 0;
  private readonly waiters = new Set<() => void>();

  private constructor(
    private readonly server: http.Server,
    /** Answers to the first requests, in order; the last one is given again and again. */
    private readonly answers: Answer[],
  ) {
    server.on('connection', (socket: Socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        this.wake();
      });
    });
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.receive(request, Buffer.concat(chunks).toString(), response));
    });
  }

  static async start(...answers: Answer[]): Promise<Collector> {
    const server = http.createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Collector(server, answers.length > 0 ? answers : [200]);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Every message received, in order. */
  get messages(): Message[] {
    return this.requests.flatMap((request) => request.body.batch);
  }

  /** Resolves when so many requests have arrived. */
  async received(count: number): Promise<Received[]> {
    await this.until(() => this.requests.length >= count);
    return this.requests;
  }

  /** Resolves when no connection is open. */
  closed(): Promise<void> {
    return this.until(() => this.sockets.size === 0);
  }

  /** Resolves when a condition holds, which is looked at whenever a request arrives or a connection closes. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.waiters.add(resolve));
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private receive(request: http.IncomingMessage, raw: string, response: http.ServerResponse): void {
    const received: Received = {
      method: request.method!,
      path: request.url!,
      headers: request.headers,
      raw,
      body: JSON.parse(raw) as Received['body'],
      at: Date.now(),
    };
    this.requests.push(received);
    const answer = this.answers[Math.min(this.requests.length, this.answers.length) - 1]!;
    if (typeof answer === 'function') answer(response, received);
    else if (typeof answer === 'number') response.writeHead(answer).end('{"success":true}');
    else response.writeHead(answer.status, answer.headers).end(answer.body);
    this.wake();
  }

  private wake(): void {
    for (const wake of this.waiters) wake();
    this.waiters.clear();
  }
}
