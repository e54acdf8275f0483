import { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a message at the receiver; the first part of its messageId says so. */
export const kinds = ['ok', 'retry', 'gone'] as const;

/** The moments at which a relay may be killed, as far as they are seen from outside. */
export interface Edges {
  /** A batch is on its way to the relay. */
  posted: [];
  /** The relay has answered a batch with 200. */
  accepted: [];
  /** An attempt has arrived, and is not answered. */
  attempted: [];
  /** An attempt that is not the first has arrived. */
  retried: [];
  /** A success has been answered; the relay has not recorded it. */
  succeeded: [];
  /** A temporary failure has been answered. */
  failed: [];
  /** A failure for good has been answered. */
  refused: [];
  /** The relay has recorded an outcome. */
  settled: [];
}

/** Counts the attempts of each message, and emits the moments between. */
export class CrashReceiver {
  readonly attempts = new Map<string, number>();
  /** Successes answered, by messageId. */
  readonly successes = new Map<string, number>();

  private constructor(
    private readonly server: Server,
    private readonly edges: EventEmitter<Edges>,
    private readonly onAttempt: (messageId: string) => void,
  ) {}

  static async start(edges: EventEmitter<Edges>, onAttempt: (messageId: string) => void): Promise<CrashReceiver> {
    const server = createServer();
    const receiver = new CrashReceiver(server, edges, onAttempt);
    server.on('request', (request, response) => {
      request.resume().on('end', () => {
        const answer = receiver.take(String(request.headers['x-message-id']));
        // Long enough that attempts overlap.
        setTimeout(() => {
          if (request.socket.destroyed) return;
          answer.onAnswer();
          response.writeHead(answer.status).end(() => edges.emit(answer.edge));
        }, 3 * Math.random());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private take(messageId: string): { status: number; edge: keyof Edges; onAnswer: () => void } {
    const attempt = (this.attempts.get(messageId) ?? 0) + 1;
    this.attempts.set(messageId, attempt);
    this.onAttempt(messageId);
    this.edges.emit('attempted');
    if (attempt > 1) this.edges.emit('retried');
    if (messageId.startsWith('gone')) return { status: 410, edge: 'refused', onAnswer: () => undefined };
    if (messageId.startsWith('retry') && attempt === 1)
      return { status: 503, edge: 'failed', onAnswer: () => undefined };
    const count = () => this.successes.set(messageId, (this.successes.get(messageId) ?? 0) + 1);
    return { status: 200, edge: 'succeeded', onAnswer: count };
  }
}
