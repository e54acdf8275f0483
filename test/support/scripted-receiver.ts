import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';

import type { Certificate } from './certificates.js';
import type { ReceivedWebhook } from './receiver.js';

/** Connections that wait to be accepted; beyond it, one waits for seconds. */
const BACKLOG = 4_096;

/** A request that a receiver got, before it has answered. */
type UnansweredWebhook = Omit<ReceivedWebhook, 'status'>;

/** How a receiver takes a request whose body it has read; `index` counts its requests from 0. */
export type Script = (response: ServerResponse, index: number, request: IncomingMessage) => void;

/** Answers with a status and nothing else. */
export const status =
  (code: number, headers: Record<string, string> = {}): Script =>
  (response) =>
    void response.writeHead(code, headers).end();

/** Never answers. */
export const hang: Script = () => undefined;

/** Answers with 200 at once, and then with a byte now and again, for ever. */
export const drip: Script = (response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 20);
  response.once('close', () => clearInterval(timer));
};

/** Drops the connection. */
export const reset: Script = (response) => void (response.socket as Socket).resetAndDestroy();

/** One script after the other; the last one stays. */
export const sequence =
  (...scripts: Script[]): Script =>
  (response, index, request) =>
    scripts[Math.min(index, scripts.length - 1)]!(response, index, request);

/** A receiver on loopback that misbehaves as it is told. */
export class ScriptedReceiver {
  readonly webhooks: UnansweredWebhook[] = [];
  /** Connections made so far, and open now. */
  connections = 0;
  readonly sockets = new Set<Socket>();
  /** Requests being answered now, and at most so far. */
  active = 0;
  mostActive = 0;

  private constructor(
    private readonly server: Server,
    private readonly scheme: string,
  ) {}

  static async start(script: Script, certificate?: Certificate, host = '127.0.0.1'): Promise<ScriptedReceiver> {
    const server = certificate ? createHttpsServer(certificate) : createHttpServer();
    const receiver = new ScriptedReceiver(server, certificate ? 'https' : 'http');
    server.on('connection', (socket: Socket) => {
      receiver.connections++;
      receiver.sockets.add(socket);
      socket.once('close', () => receiver.sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      receiver.mostActive = Math.max(receiver.mostActive, ++receiver.active);
      response.once('close', () => receiver.active--);
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const raw = Buffer.concat(chunks);
        const { method, url, headers } = request;
        const body = JSON.parse(raw.toString()) as Record<string, unknown>;
        receiver.webhooks.push({ method: method!, path: url!, headers, raw, body, at: Date.now() });
        script(response, receiver.webhooks.length - 1, request);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, host, BACKLOG, resolve));
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${this.port}/hook`;
  }

  /** Has another certificate from now on. */
  renew(certificate: Certificate): void {
    (this.server as HttpsServer).setSecureContext(certificate);
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** The URL of a port where nobody listens. */
export async function refusingUrl(): Promise<string> {
  const receiver = await ScriptedReceiver.start(hang);
  const { url } = receiver;
  await receiver.stop();
  return url;
}
