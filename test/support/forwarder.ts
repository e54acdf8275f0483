import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** An address that leads to one port or another, as the virtual address of a store with a standby does. */
export class Forwarder {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    /** Where new connections go; those that are open stay where they are. */
    public target: number,
  ) {}

  static async start(target: number): Promise<Forwarder> {
    const server = createServer({ noDelay: true });
    const forwarder = new Forwarder(server, target);
    server.on('connection', (socket) => forwarder.forward(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return forwarder;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Lets open connections fall silent, as when a host is gone; new ones work. */
  mute(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private forward(socket: Socket): void {
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
