import { randomUUID } from 'node:crypto';

import type { Client } from 'pg';

import {
  type OnSignal,
  readTexts,
  type SignalConnection,
  type SignalKind,
  StoreSignals,
} from '../shared/store-signals.js';
import type { PostgresDatabase } from './postgres.database.js';

/** A channel belongs to the whole database, so each notification carries the name of its schema. */
const CHANNEL = 'relay_';
const KINDS: SignalKind[] = ['registry', 'due', 'purged', 'peer'];

/** Maximum size of a notification's text, in bytes; PostgreSQL accepts less than 8,000. */
const MAX_PAYLOAD = 7_500;

/** Maximum number of ids in a notification: each has at most 19 digits. */
const MAX_IDS = 300;

/** Signals between the processes that share a schema. */
export class PostgresSignals extends StoreSignals {
  /** Distinguishes the signals of this process from those of others. */
  private readonly sender = randomUUID();

  constructor(private readonly database: PostgresDatabase) {
    super();
  }

  /** Announces due destinations to other processes; an empty list makes them poll. */
  async sendDue(names: string[]): Promise<void> {
    const payload = this.payloadOf(names);
    const isTooLong = Buffer.byteLength(payload) > MAX_PAYLOAD;
    await this.notify('due', isTooLong ? this.payloadOf([]) : payload);
  }

  /** Notifies other processes of purged deliveries. */
  async sendPurged(ids: string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += MAX_IDS) {
      await this.notify('purged', this.payloadOf(ids.slice(start, start + MAX_IDS)));
    }
  }

  send(text: string): Promise<void> {
    return this.notify('peer', this.payloadOf([text]));
  }

  protected override connect(onSignal: OnSignal, onEnd: () => void): SignalConnection {
    const client = this.database.createClient();
    client.on('error', onEnd).on('end', onEnd);
    client.on('notification', ({ channel, payload = '' }) => {
      const kind = channel.slice(CHANNEL.length) as SignalKind;
      // The registry's notification is the schema alone.
      const [schema, sender, ...texts] = kind === 'registry' ? [payload] : readTexts(payload);
      if (schema === this.database.prefix && sender !== this.sender) onSignal(kind, texts);
    });
    return {
      listen: () =>
        client.connect().then(() => client.query(KINDS.map((kind) => `LISTEN ${CHANNEL}${kind}`).join('; '))),
      check: () => checkWritable(client),
      close: () => void client.end().catch(() => undefined),
    };
  }

  private payloadOf(texts: string[]): string {
    return JSON.stringify([this.database.prefix, this.sender, ...texts]);
  }

  private async notify(kind: SignalKind, payload: string): Promise<void> {
    await this.database.query('SELECT pg_notify($1, $2)', [CHANNEL + kind, payload]);
  }
}

/** Rejects on a former primary that answers, but has become read-only: changes are signalled elsewhere. */
async function checkWritable(client: Client): Promise<void> {
  const { rows } = await client.query<{ setting: string }>(
    `SELECT current_setting('transaction_read_only') AS setting`,
  );
  if (rows[0]!.setting === 'on') throw new Error('the server is read-only');
}
