import { filter, map, type Observable } from 'rxjs';

import type { PeerChannel } from '../peer-channel.interface.js';
import { readTexts, type SignalConnection, SignalListener } from '../shared/signal-listener.js';
import type { PostgresDatabase } from './postgres.database.js';
import { REGISTRY_CHANNEL } from './postgres-registry.store.js';

/** A channel belongs to the whole database, so each notification carries the name of its schema. */
const DUE_CHANNEL = 'relay_due';
const PURGED_CHANNEL = 'relay_purged';
const PEER_CHANNEL = 'relay_peer';
const CHANNELS = [REGISTRY_CHANNEL, DUE_CHANNEL, PURGED_CHANNEL, PEER_CHANNEL];

/** Maximum size of a notification's text, in bytes; PostgreSQL accepts less than 8,000. */
const MAX_PAYLOAD = 7_500;

/** Maximum number of ids in a notification: each has at most 19 digits. */
const MAX_IDS = 300;

/** A signal of another process; undefined when the connection opens, because signals may have been missed before. */
type Signal = { registry: true } | { due: string[] } | { purged: string[] } | { text: string } | undefined;

/** Signals between the processes that share a schema. Each process that listens has one connection for them. */
export class PostgresSignals implements PeerChannel {
  /** Emits when the registry may have changed. */
  readonly registry$: Observable<void>;
  /** Emits destinations that got due deliveries; an empty list means that they must be looked up. */
  readonly due$: Observable<string[]>;
  /** Emits ids of leased deliveries that another process purged. */
  readonly purged$: Observable<string[]>;
  /** Emits the texts that other processes send with `send`. */
  readonly received$: Observable<string>;
  private readonly listener: SignalListener<Signal>;

  /** @param sender distinguishes the signals of this process from those of others */
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
    this.purged$ = signals$.pipe(
      filter((signal) => signal !== undefined && 'purged' in signal),
      map(({ purged }) => purged),
    );
    this.received$ = signals$.pipe(
      filter((signal) => signal !== undefined && 'text' in signal),
      map(({ text }) => text),
    );
  }

  /** Announces due destinations to other processes; an empty list makes them poll. */
  async sendDue(names: string[]): Promise<void> {
    const payload = this.payloadOf(names);
    const isTooLong = Buffer.byteLength(payload) > MAX_PAYLOAD;
    await this.notify(DUE_CHANNEL, isTooLong ? this.payloadOf([]) : payload);
  }

  /** Notifies other processes of purged deliveries. */
  async sendPurged(ids: string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += MAX_IDS) {
      await this.notify(PURGED_CHANNEL, this.payloadOf(ids.slice(start, start + MAX_IDS)));
    }
  }

  send(text: string): Promise<void> {
    return this.notify(PEER_CHANNEL, this.payloadOf([text]));
  }

  /** Completes all subscriptions. */
  close(): void {
    this.listener.close();
  }

  private payloadOf(texts: string[]): string {
    return JSON.stringify([this.schema, this.sender, ...texts]);
  }

  private async notify(channel: string, payload: string): Promise<void> {
    await this.database.query('SELECT pg_notify($1, $2)', [channel, payload]);
  }

  private subscribe(onSignal: (signal: Signal) => void, onEnd: () => void): SignalConnection {
    const client = this.database.createClient();
    client.on('error', onEnd).on('end', onEnd);
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === REGISTRY_CHANNEL) {
        if (payload === this.schema) onSignal({ registry: true });
        return;
      }
      const [schema, sender, ...texts] = readTexts(payload);
      if (schema !== this.schema || sender === this.sender) return;
      if (channel === PURGED_CHANNEL) onSignal({ purged: texts });
      else if (channel === PEER_CHANNEL) texts.forEach((text) => onSignal({ text }));
      else onSignal({ due: texts });
    });
    return {
      listen: () =>
        client.connect().then(() => client.query(CHANNELS.map((channel) => `LISTEN ${channel}`).join('; '))),
      check: () => client.query('SELECT'),
      close: () => void client.end().catch(() => undefined),
    };
  }
}
