import type { Client } from 'pg';

import { QueueUnavailableError } from '../../../common/relay.errors.js';

/** Encodings that store every text; SQL_ASCII stores the bytes of UTF-8 unchanged. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];

/** @throws {QueueUnavailableError} when the database cannot store every text */
export async function checkPostgres(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string; encoding: string }>(
    `SELECT current_database() AS name, current_setting('server_encoding') AS encoding`,
  );
  const { name, encoding } = rows[0]!;
  if (ENCODINGS.includes(encoding)) return;
  throw new QueueUnavailableError(
    `bullmqQueue: database "${name}" has the encoding ${encoding}, which cannot store every text: use a database with the encoding UTF8`,
  );
}
