import type { Client } from 'pg';

import { ClosedError } from '../../common/relay.errors.js';
import { type OnSignal, type SignalConnection, type SignalKind, StoreSignals } from '../shared/store-signals.js';
import type { PostgresDatabase } from './postgres.database.js';
import { MAX_JSON, SignalCodec } from './signal.codec.js';

/** A channel belongs to the whole database, so each notification begins with the name of its schema. */
const CHANNEL = 'relay_';
const KINDS: SignalKind[] = ['registry', 'due', 'purged', 'peer'];

/** Maximum number of ids in a notification: each has at most 19 digits. */
const MAX_IDS = 250;

/** Signals between the processes that share a schema. */
export class PostgresSignals extends StoreSignals {
  #codec: SignalCodec | undefined;
  private id: string | undefined;

  constructor(private readonly database: PostgresDatabase) {
    super();
  }

  /** To be called before signals are sent or received: reads their key, which only roles that may read the table know. */
  async open(): Promise<void> {
    const [row] = await this.database.query<{ id: string; key: Buffer }>(
      `SELECT relay_id AS id, signal_key AS key FROM ${this.database.schema}.relay_layout`,
    );
    this.id = row!.id;
    this.#codec = new SignalCodec(row!.key);
  }

  /** Announces due destinations to other processes; an empty list makes them poll. */
  async sendDue(names: string[]): Promise<void> {
    const isTooLong = Buffer.byteLength(JSON.stringify(names)) > MAX_JSON;
    await this.notify('due', isTooLong ? [] : names);
  }

  /** Notifies other processes of purged deliveries. */
  async sendPurged(ids: string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += MAX_IDS) {
      await this.notify('purged', ids.slice(start, start + MAX_IDS));
    }
  }

  send(text: string): Promise<void> {
    return this.notify('peer', [text]);
  }

  /** Returns the channel and the payload of a signal. */
  notification(kind: SignalKind, texts: string[]): [channel: string, payload: string] {
    return [CHANNEL + kind, `${this.database.prefix} ${this.openCodec().encode(kind, texts)}`];
  }

  protected override connect(onSignal: OnSignal, onEnd: () => void): SignalConnection {
    const client = this.database.createClient();
    const codec = this.openCodec();
    const start = `${this.database.prefix} `;
    client.on('error', onEnd).on('end', onEnd);
    client.on('notification', ({ channel, payload = '' }) => {
      if (!payload.startsWith(start)) return;
      const kind = channel.slice(CHANNEL.length) as SignalKind;
      const texts = codec.decode(kind, payload.slice(start.length));
      if (texts) onSignal(kind, texts);
    });
    return {
      listen: () =>
        client.connect().then(() => client.query(KINDS.map((kind) => `LISTEN ${CHANNEL}${kind}`).join('; '))),
      check: () => checkWritable(client),
      close: () => void client.end().catch(() => undefined),
    };
  }

  /** Returns the id of the queue: no other schema or database has it. */
  relayId(): string {
    if (this.id === undefined) throw new ClosedError('the queue is closed');
    return this.id;
  }

  private openCodec(): SignalCodec {
    if (!this.#codec) throw new ClosedError('the queue is closed');
    return this.#codec;
  }

  private async notify(kind: SignalKind, texts: string[]): Promise<void> {
    await this.database.query('SELECT pg_notify($1, $2)', this.notification(kind, texts));
  }
}

/** Rejects on a former primary that answers, but has become read-only: changes are signalled elsewhere. */
async function checkWritable(client: Client): Promise<void> {
  const { rows } = await client.query<{ setting: string }>(
    `SELECT current_setting('transaction_read_only') AS setting`,
  );
  if (rows[0]!.setting === 'on') throw new Error('the server is read-only');
}
