import { filter, map, type Observable } from 'rxjs';

import { type SignalConnection, SignalListener } from '../shared/signal-listener.js';
import type { PostgresDatabase } from './postgres.database.js';
import { REGISTRY_CHANNEL } from './postgres-registry.store.js';

/** A channel belongs to the whole database, so each notification carries the name of its schema. */
const DUE_CHANNEL = 'relay_due';

/** Most bytes of a notification's text; PostgreSQL takes less than 8,000. */
const MAX_PAYLOAD = 7_500;

/** What another process tells; undefined when the connection was made, as something may have been missed before. */
type Signal = { registry: true } | { due: string[] } | undefined;

/** The signals between the processes of one schema, over one connection of each that listens. */
export class PostgresSignals {
  /** Emits when the registry may have changed. */
  readonly registry$: Observable<void>;
  /** Names of destinations that have come to have something due; none where it must be looked up. */
  readonly due$: Observable<string[]>;
  private readonly listener: SignalListener<Signal>;

  /** @param sender tells the signals of this process from those of others */
  constructor(
    private readonly database: PostgresDatabase,
    private readonly schema: string,
    private readonly sender: string,
  ) {
    this.listener = new SignalListener<Signal>((onSignal, onEnd) => this.subscribe(onSignal, onEnd));
    const { signals$ } = this.listener;
    this.registry$ = signals$.pipe(
      filter((signal) => signal === undefined || 'registry' in signal),
      map(() => undefined),
    );
    this.due$ = signals$.pipe(
      map((signal) => (signal === undefined ? [] : 'due' in signal ? signal.due : undefined)),
      filter((names) => names !== undefined),
    );
  }

  /** Names destinations to other processes; without names, these look for themselves. */
  async send(names: string[]): Promise<void> {
    const payload = JSON.stringify([this.schema, this.sender, ...names]);
    const isTooLong = Buffer.byteLength(payload) > MAX_PAYLOAD;
    const sent = isTooLong ? JSON.stringify([this.schema, this.sender]) : payload;
    await this.database.query('SELECT pg_notify($1, $2)', [DUE_CHANNEL, sent]);
  }

  /** Ends `registry$` and `due$`. */
  close(): void {
    this.listener.close();
  }

  private subscribe(onSignal: (signal: Signal) => void, onEnd: () => void): SignalConnection {
    const client = this.database.createClient();
    client.on('error', onEnd).on('end', onEnd);
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === REGISTRY_CHANNEL) {
        if (payload === this.schema) onSignal({ registry: true });
        return;
      }
      const [schema, sender, ...due] = JSON.parse(payload) as string[];
      if (schema === this.schema && sender !== this.sender) onSignal({ due });
    });
    return {
      listen: () => client.connect().then(() => client.query(`LISTEN ${REGISTRY_CHANNEL}; LISTEN ${DUE_CHANNEL}`)),
      check: () => client.query('SELECT'),
      close: () => void client.end().catch(() => undefined),
    };
  }
}
