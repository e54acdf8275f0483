import type { Client, ClientConfig } from 'pg';

/** Time after which connections are destroyed when the queue closes, in ms. */
const CLOSE_TIMEOUT = 5_000;

/** Interval at which connections are destroyed again, in ms: a pool reconnects for queries that wait. */
const DESTROY_INTERVAL = 100;

/** The connections of one process that have not ended. */
export class OpenConnections {
  /** Each with a promise that resolves when it ends. */
  private readonly open = new Map<Client, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  /** Returns a client class whose connections are tracked from their creation. */
  track(Base: typeof Client): typeof Client {
    const { open } = this;
    return class extends Base {
      constructor(config?: string | ClientConfig) {
        super(config);
        const end = new Promise<unknown>((resolve) => this.once('end', resolve));
        open.set(
          this,
          end.then(() => void open.delete(this)),
        );
      }
    };
  }

  /**
   * To be called when the queue begins to close. Connections that are open after {@link CLOSE_TIMEOUT} are destroyed, and
   * their queries reject: a host that has vanished neither answers nor confirms the end of a connection.
   */
  beginClose(): void {
    this.timer ??= setTimeout(() => {
      this.timer = setInterval(() => this.destroy(), DESTROY_INTERVAL);
    }, CLOSE_TIMEOUT);
  }

  /** Resolves once all connections have ended. */
  async close(): Promise<void> {
    this.beginClose();
    while (this.open.size > 0) await Promise.all(this.open.values());
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private destroy(): void {
    for (const client of this.open.keys()) client.connection.stream.destroy();
  }
}
