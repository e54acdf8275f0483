import type { Client, ClientConfig } from 'pg';

/** Time after which connections are destroyed when the queue closes, in ms. */
const CLOSE_TIMEOUT = 5_000;

/** Time between two times that connections are destroyed, in ms: a pool connects again for queries that wait. */
const DESTROY_INTERVAL = 100;

/** The connections of one process that have not ended. */
export class OpenConnections {
  private readonly ended = new Map<Client, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  /** Returns a client class whose connections are tracked from their creation. */
  track(Base: typeof Client): typeof Client {
    const { ended } = this;
    return class extends Base {
      constructor(config?: string | ClientConfig) {
        super(config);
        const end = new Promise<unknown>((resolve) => this.once('end', resolve));
        ended.set(
          this,
          end.then(() => void ended.delete(this)),
        );
      }
    };
  }

  /**
   * To be called when the queue begins to close. Connections that are open after {@link CLOSE_TIMEOUT} are destroyed, and
   * their queries reject: a host that has vanished neither answers nor confirms the end of a connection.
   */
  limit(): void {
    this.timer ??= setTimeout(() => {
      this.timer = setInterval(() => this.destroy(), DESTROY_INTERVAL);
    }, CLOSE_TIMEOUT);
  }

  /** Resolves once all connections have ended. */
  async close(): Promise<void> {
    this.limit();
    while (this.ended.size > 0) await Promise.all(this.ended.values());
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private destroy(): void {
    for (const client of this.ended.keys()) client.connection.stream.destroy();
  }
}
