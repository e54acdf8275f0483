import type { Client } from 'pg';

import { LineLogger } from '../../common/line.logger.js';
import { QueueUnavailableError } from '../../common/relay.errors.js';

const logger = new LineLogger('PostgresQueue');

/** Encodings that store every text; SQL_ASCII stores the bytes of UTF-8 unchanged. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];

interface Facts {
  pid: number;
  name: string;
  encoding: string;
  commit: string;
  seqscan: string;
}

/**
 * Checks that the database suits the queue, and warns of settings that may lose deliveries or delay them.
 *
 * @param connect opens another connection
 * @throws {QueueUnavailableError} when the database cannot store every text
 */
export async function checkPostgres(client: Client, connect: () => Promise<Client>): Promise<void> {
  const { rows } = await client.query<Facts>(
    `SELECT pg_backend_pid() AS pid, current_database() AS name, current_setting('server_encoding') AS encoding,
       current_setting('synchronous_commit') AS commit, current_setting('enable_seqscan') AS seqscan`,
  );
  const { pid, name, encoding, commit, seqscan } = rows[0]!;
  if (!ENCODINGS.includes(encoding)) {
    throw new QueueUnavailableError(
      `postgresQueue: database "${name}" has the encoding ${encoding}, which cannot store every text: use a database with the encoding UTF8`,
    );
  }
  if (commit === 'off') {
    logger.warn(
      "PostgreSQL's synchronous_commit is off, so a crash of PostgreSQL loses accepted deliveries: set it to on",
    );
  }
  if (seqscan !== 'off') {
    logger.warn(
      'A pooler drops the startup parameter "options", so PostgreSQL may read whole tables: ' +
        'connect to PostgreSQL itself, or let the pooler forward it',
    );
  }
  if (!(await isShared(client, pid, connect))) return;
  logger.warn(
    'A pooler in transaction mode is between the relay and PostgreSQL, so signals between processes are lost: ' +
      'connect to PostgreSQL itself, or to a pooler in session mode',
  );
}

/** Whether a transaction of another connection takes the server process that the first connection has had. */
async function isShared(client: Client, pid: number, connect: () => Promise<Client>): Promise<boolean> {
  const other = await connect();
  try {
    await other.query('BEGIN');
    if ((await pidOf(other)) === pid) return true;
    return (await pidOf(client)) !== pid;
  } finally {
    await other.end();
  }
}

async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}
