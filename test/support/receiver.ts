import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

import { waitFor } from './wait-for.js';

/** A request that a receiver got. */
export interface ReceivedWebhook {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The bytes as received. */
  raw: Buffer;
  /** The same, parsed. */
  body: Record<string, unknown>;
  /** What it was answered. */
  status: number;
  at: number;
}

/** A webhook receiver on a free port of loopback. */
export class Receiver {
  readonly webhooks: ReceivedWebhook[] = [];
  /** Status of the next answers; the last one stays. */
  statuses: number[] = [200];

  private constructor(private readonly server: Server) {}

  /** @param port default: a free one */
  static async start(port = 0): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const raw = Buffer.concat(chunks);
        const status = receiver.statuses.length > 1 ? receiver.statuses.shift()! : receiver.statuses[0]!;
        receiver.webhooks.push({
          method: request.method!,
          path: request.url!,
          headers: request.headers,
          raw,
          body: JSON.parse(raw.toString()) as Record<string, unknown>,
          status,
          at: Date.now(),
        });
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Resolves with the number of open connections. */
  connections(): Promise<number> {
    return promisify(this.server.getConnections.bind(this.server))();
  }

  /** Resolves with the first webhooks once there are as many. */
  async received(count: number): Promise<ReceivedWebhook[]> {
    await waitFor(
      () => this.webhooks.length >= count,
      () => `${count} webhooks, got ${this.webhooks.length}`,
    );
    return this.webhooks;
  }

  /** Resolves with the ids of the messages taken with 200, once there are as many. */
  async taken(count: number): Promise<string[]> {
    const ids = () =>
      this.webhooks.filter(({ status }) => status === 200).map(({ headers }) => headers['x-message-id'] as string);
    await waitFor(
      () => ids().length >= count,
      () => `${count} webhooks taken, got ${ids().length}`,
    );
    return ids();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
