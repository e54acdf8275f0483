import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import type { Afterwards } from './clean-ups.js';

/** An address that leads to one port or another, as the virtual address of a store with a standby does. */
export class Forwarder {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    /** The port that new connections go to, if any; those that are open stay where they are. */
    public target: number | undefined,
    /** The URL that it was started with, with its own port. */
    readonly url: string,
  ) {}

  /** Starts one that leads to the port of a URL, until the end of the test. */
  static async start(afterwards: Afterwards, url: string): Promise<Forwarder> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const own = new URL(url);
    const target = Number(own.port);
    own.port = String((server.address() as AddressInfo).port);
    const forwarder = new Forwarder(server, target, own.href);
    server.on('connection', (socket) => forwarder.forward(socket));
    afterwards(() => forwarder.stop());
    return forwarder;
  }

  /** Lets open connections fall silent, as when a host is gone; new ones work. */
  mute(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  /** Ends open connections, and new ones at once until there is a target again. */
  cut(): void {
    this.target = undefined;
    for (const socket of this.sockets) socket.destroy();
  }

  private async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private forward(socket: Socket): void {
    if (this.target === undefined) {
      socket.destroy();
      return;
    }
    const other = connect({ port: this.target, host: '127.0.0.1', noDelay: true });
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.sockets.add(from);
      from.pipe(to);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
  }
}
