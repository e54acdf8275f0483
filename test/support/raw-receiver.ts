import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import type { Certificate } from './certificates.js';

/** How a receiver answers a request; `index` counts its requests from 0. */
export type Answer = (socket: Socket, index: number) => void | Promise<void>;

/** Answers with a text. */
export const write =
  (text: string): Answer =>
  (socket) =>
    void socket.write(text, 'latin1');

/** Answers requests with bytes. */
export class RawReceiver {
  readonly requests: string[] = [];
  connections = 0;
  readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly scheme: string,
  ) {}

  static async start(answer: Answer, certificate?: Certificate): Promise<RawReceiver> {
    const server = certificate ? createTlsServer(certificate) : createServer();
    const receiver = new RawReceiver(server, certificate ? 'https' : 'http');
    server.on(certificate ? 'secureConnection' : 'connection', (socket: Socket) => {
      receiver.connections++;
      receiver.sockets.add(socket.setNoDelay(true).on('error', () => undefined));
      socket.once('close', () => receiver.sockets.delete(socket));
      let bytes = '';
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.toString();
        const [head = '', body] = bytes.split('\r\n\r\n');
        if (body?.length !== Number(/content-length: (\d+)/i.exec(head)?.[1])) return;
        receiver.requests.push(bytes);
        bytes = '';
        void answer(socket, receiver.requests.length - 1);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
