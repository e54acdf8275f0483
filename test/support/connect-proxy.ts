import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';

import type { Certificate } from './certificates.js';

/** What a proxy makes of a request for a connection. */
type Answer = (socket: Socket, request: IncomingMessage) => void;

/** A proxy on loopback that connects by `CONNECT`, to one port whatever it is asked for. */
export class ConnectProxy {
  /** What it was asked for. */
  readonly asked: string[] = [];
  /** The credentials it was given. */
  readonly credentials: (string | undefined)[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: HttpServer,
    private readonly scheme: string,
  ) {}

  static async start(port: number, certificate?: Certificate, answer?: Answer): Promise<ConnectProxy> {
    const server = certificate ? createHttpsServer(certificate) : createServer();
    const proxy = new ConnectProxy(server, certificate ? 'https' : 'http');
    const keep = (socket: Socket): void => {
      proxy.sockets.add(socket.on('error', () => undefined));
    };
    server.on('connection', keep);
    server.on('connect', (request: IncomingMessage, socket: Socket) => {
      proxy.asked.push(request.url!);
      proxy.credentials.push(request.headers['proxy-authorization']);
      if (answer) return answer(socket, request);
      const upstream = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      keep(upstream);
      upstream.once('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  url(userInfo = ''): string {
    return `${this.scheme}://${userInfo}127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
