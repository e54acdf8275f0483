import type { Pool } from 'pg';

/** Timeout of a query, and of a connection attempt, in ms. */
export const QUERY_TIMEOUT = 10_000;

/** Maximum size of the pool; one more connection listens. */
const MAX_CONNECTIONS = 7;

/** Default size of the pool, enough to write, read and renew leases at once. */
const CONNECTIONS = 5;

/**
 * Settings that the statements rely on, whatever the defaults of the server, the database or the role are.
 * Frequent queries read only the rows they need, in the order of an index. A plan made while the table was small would
 * read and sort the whole table for the lifetime of the connection.
 */
const SETTINGS = [
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  'jit=off',
  'bytea_output=hex',
  // A statement continues with what others committed while it waited for their locks.
  'default_transaction_isolation=read\\ committed',
];

/** Parsers by the object id of the type. All other types, `bigint` among them, are read as text. */
const PARSERS: Partial<Record<number, (text: string) => unknown>> = {
  17: (bytea) => Buffer.from(bytea.slice(2), 'hex'),
  23: Number, // integer
  114: (json) => JSON.parse(json) as unknown,
  701: Number, // double precision
};

/** The parsers of this package: an application may set others for the whole process, with `pg.types`. */
const types = { getTypeParser: (id: number) => PARSERS[id] ?? String };

/** Returns the settings of each connection: those given, with what the queue needs. */
export function toConfig(connection: string | object) {
  const given = toGiven(connection);
  const options = given.options ?? process.env.PGOPTIONS ?? '';
  return {
    connectionTimeoutMillis: QUERY_TIMEOUT,
    query_timeout: QUERY_TIMEOUT,
    keepAlive: true,
    ...given,
    types,
    binary: false,
    options: [options, ...SETTINGS.map((setting) => `-c ${setting}`)].join(' '),
    max: Math.min(given.max ?? CONNECTIONS, MAX_CONNECTIONS),
  };
}

interface GivenConfig {
  connectionString?: string;
  max?: number;
  options?: string;
}

/** Returns the settings given. The password is copied by name, because a pool hides it from a plain copy. */
function toGiven(connection: string | object): GivenConfig {
  if (typeof connection === 'string') return splitUrl(connection);
  const { options: pool } = connection as Partial<Pool>;
  const isPool = typeof pool === 'object' && pool !== null;
  const given = (isPool ? { ...pool, password: pool.password } : connection) as GivenConfig;
  return given.connectionString === undefined ? given : { ...given, ...splitUrl(given.connectionString) };
}

/** Takes the parameter `options` out of a URL, where it would replace the setting of that name. */
function splitUrl(url: string): GivenConfig {
  const start = url.indexOf('?') + 1;
  const parameters = new URLSearchParams(start === 0 ? '' : url.slice(start));
  const options = parameters.get('options');
  if (options === null) return { connectionString: url };
  parameters.delete('options');
  return { connectionString: url.slice(0, start) + parameters.toString(), options };
}
