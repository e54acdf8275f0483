import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { Logger } from '@nestjs/common';
import { type ClusterOptions, Redis } from 'ioredis';
import { memoryQueue, OptionsError } from 'nestjs-analytics-relay';
import { bullmqQueue, type BullmqQueueOptions } from 'nestjs-analytics-relay/bullmq';
import { migratePostgresQueue, postgresQueue, type PostgresQueueOptions } from 'nestjs-analytics-relay/postgres';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { ownRedis } from '../../../support/own-services.js';
import {
  describeOnEach,
  POSTGRES_URL,
  postgresStore,
  queryPostgres,
  REDIS_URL,
  redisStore,
} from '../../../support/services.js';
import { sharedQueue, type SharedQueueOptions } from '../../../support/shared-queue.js';
import { waitFor } from '../../../support/wait-for.js';

const warnings: string[] = [];
vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void warnings.push(String(line)));
afterEach(() => void warnings.splice(0));

const delivery = { destination: 'Webhooks', source: 'shop', messageId: 'm1', userId: 'u1', acceptedAt: Date.now() };

/** Adds a delivery, and lists it. */
async function use(options: SharedQueueOptions): Promise<void> {
  const queue = sharedQueue(options)();
  await queue.open();
  await queue.add([{ ...delivery, body: Buffer.from('{}') }]);
  expect(await queue.list({})).toMatchObject([{ messageId: 'm1', state: 'queued' }]);
  await queue.close();
}

describe('Options of bullmqQueue', () => {
  const cases: [what: string, options: unknown, error: string][] = [
    ['nothing', undefined, 'connection must be a URL'],
    ['a URL of the other store', { connection: 'postgres://u:s3cret@db/x' }, 'begins with redis:// or rediss://'],
    [
      'a database that is no number',
      { connection: 'redis://u:s3cret@h/x' },
      'connection must be a Redis URL without a',
    ],
    ['a password with %', { connection: 'redis://u:s3cret%@h/1' }, 'connection must be a URL whose user and password'],
    ['an empty prefix', { connection: REDIS_URL, prefix: '' }, 'prefix must be'],
    ['a colon', { connection: REDIS_URL, prefix: 'a:b' }, 'prefix must be'],
    ['a wait of no time', { connection: REDIS_URL, connectTimeout: 0 }, 'connectTimeout must be'],
    ['two options', { connection: 's3cret', prefix: '' }, 'bullmqQueue: \n  - prefix must be'],
    ['two options', { connection: 's3cret', prefix: '' }, '\n  - connection must be'],
    ['a wrong bound', { connection: REDIS_URL, retention: { dead: { age: -1 } } }, 'retention.dead.age must be'],
  ];
  it.each(cases)('name what is wrong: %s', (_what, options, error) => {
    const act = () => bullmqQueue(options as BullmqQueueOptions);
    expect(act).toThrow(error);
    expect(act).toThrow(OptionsError);
    expect(act).not.toThrow('s3cret');
  });

  const postgresCases: [what: string, options: unknown, error: string][] = [
    ['no URL', { connection: 's3cret' }, 'begins with postgres:// or postgresql://'],
    ['a schema with a dash', { connection: {}, prefix: 'a-b' }, 'prefix must be a schema'],
    ['a wrong migrate', { connection: POSTGRES_URL, migrate: 'yes' }, 'migrate must be true or false'],
  ];
  it.each(postgresCases)('name what is wrong, on PostgreSQL: %s', (_what, options, error) => {
    const act = () => postgresQueue(options as PostgresQueueOptions);
    expect(act).toThrow(error);
    expect(act).toThrow(OptionsError);
    expect(act).not.toThrow('s3cret');
  });

  it('allow the number of a database, and a queue that is closed before it is opened', async () => {
    await bullmqQueue({ connection: 'redis://u:p%25@127.0.0.1/15?family=4' })().close();
  });

  it('tell that its queues are shared', () => {
    expect(bullmqQueue({ connection: REDIS_URL }).isShared).toBe(true);
    expect(memoryQueue().isShared).toBeFalsy();
  });
});

describe('A package that is missing', () => {
  /** Opens a queue in a process where a package cannot be found; resolves with what that rejects with. */
  async function openWithout(
    missing: string,
    factory: 'bullmqQueue' | 'postgresQueue',
    options: object,
    text = `Cannot find package '${missing}'`,
  ): Promise<string> {
    const script = `
      import { register } from 'node:module';
      const hooks = \`export async function resolve(name, context, next) {
        if (name === '${missing}') throw Object.assign(new Error("${text}"), { code: 'ERR_MODULE_NOT_FOUND' });
        return next(name, context);
      }\`;
      register('data:text/javascript,' + encodeURIComponent(hooks));
      const { ${factory} } = await import('nestjs-analytics-relay/${factory === 'bullmqQueue' ? 'bullmq' : 'postgres'}');
      await ${factory}(${JSON.stringify(options)})().open().catch((error) => console.log(\`\${error.message} [\${error.code}]\`));
      process.exit();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    return stdout.trim();
  }

  it.each([
    ['bullmq', 'bullmq ioredis', 'bullmqQueue', REDIS_URL],
    ['ioredis', 'bullmq ioredis', 'bullmqQueue', REDIS_URL],
    ['pg', 'pg', 'postgresQueue', POSTGRES_URL],
  ] as const)(
    'is named with the command that installs all that are needed: %s',
    async (missing, packages, factory, connection) => {
      const line = `${factory} needs the package ${missing}, which is not installed: npm install ${packages} [package_missing]`;
      expect(await openWithout(missing, factory, { connection })).toBe(line);
    },
  );

  it('is not blamed for what it lacks itself', async () => {
    const text = "Cannot find package 'postgres-array'";
    expect(await openWithout('pg', 'postgresQueue', { connection: POSTGRES_URL }, text)).toBe(
      `${text} [ERR_MODULE_NOT_FOUND]`,
    );
  });
});

await describeOnEach([redisStore], () => {
  describe('A queue on Redis', () => {
    const cleanUp = useCleanUps();

    it('warns of a Redis that removes keys, and of one that writes no file', async () => {
      const service = await ownRedis(['--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru']);
      cleanUp(() => service.remove());
      await service.start();
      await use(service.options);
      expect(warnings).toEqual([
        expect.stringContaining('maxmemory-policy is allkeys-lru'),
        expect.stringContaining('no append-only file'),
      ]);
    });

    it('warns of nothing where all is well', async () => {
      const service = await ownRedis();
      cleanUp(() => service.remove());
      await service.start();
      await use(service.options);
      expect(warnings).toEqual([]);
    });

    it('keeps the credentials of a cluster that the application has', async () => {
      const given = { password: 's3cret', tls: {}, commandTimeout: 1 };
      const passed: unknown[] = [];
      const connection = {
        nodes: () => [],
        options: { redisOptions: given },
        duplicate: (nodes: unknown, { redisOptions }: ClusterOptions) => {
          passed.push(redisOptions);
          throw new Error('no cluster here');
        },
      };
      await expect(bullmqQueue({ connection })().open()).rejects.toThrow('no cluster here');
      expect(passed).toEqual([expect.objectContaining({ password: 's3cret', tls: {}, commandTimeout: 5_000 })]);
    });

    it.each(['options', 'a URL', 'a client'])(
      'has its own prefix though %s of the application set one',
      async (how) => {
        const { options, remove } = redisStore.create();
        cleanUp(remove);
        const { hostname: host, port } = new URL(REDIS_URL);
        const keyPrefix = `${options.prefix}-app:`;
        const given = { host, port: Number(port), keyPrefix, lazyConnect: true };
        const url = `${REDIS_URL}?keyPrefix=${keyPrefix}`;
        await use({ ...options, connection: how === 'options' ? given : how === 'a URL' ? url : new Redis(given) });
        const redis = new Redis(REDIS_URL);
        cleanUp(() => redis.disconnect());
        expect(await redis.keys(`${keyPrefix}*`)).toEqual([]);
        expect(await redis.keys(`${options.prefix}:*`)).not.toEqual([]);
      },
    );

    it('closes its connection if BullMQ refuses it', async () => {
      const client = new Redis(REDIS_URL, { keyPrefix: 'app:', lazyConnect: true });
      cleanUp(() => client.disconnect());
      const { options } = redisStore.create();
      await expect(bullmqQueue({ ...options, connection: { duplicate: () => client } })().open()).rejects.toThrow(
        'BullMQ',
      );
      expect(client.status).toBe('end');
    });

    it('says that it waited for TLS, which a server without it never answers', async () => {
      const connection = REDIS_URL.replace('redis:', 'rediss:');
      const queue = bullmqQueue({ connection, connectTimeout: 300 })();
      await expect(queue.open()).rejects.toThrow('Redis cannot be reached: the connection with TLS took longer than');
    });

    it('takes the settings of a client that the application has, and leaves it alone', async () => {
      const place = redisStore.create();
      cleanUp(place.remove);
      const connection = new Redis(REDIS_URL, { replyMapping: 'resp3', stringNumbers: true });
      cleanUp(() => connection.disconnect());
      await use({ ...place.options, connection });
      expect(await connection.ping()).toBe('PONG');
      expect(connection.listenerCount('error')).toBe(0);
    });
  });
});

await describeOnEach([postgresStore], () => {
  describe('A queue on PostgreSQL', () => {
    const cleanUp = useCleanUps();
    const create = () => {
      const place = postgresStore.create();
      cleanUp(place.remove);
      return { connection: POSTGRES_URL, prefix: place.options.prefix! };
    };

    it('with migrate: false says that its tables are missing, and uses those that were made on request', async () => {
      const options = create();
      const unmigrated = postgresQueue({ ...options, migrate: false })();
      await expect(unmigrated.open()).rejects.toThrow(`no queue with the prefix "${options.prefix}"`);
      await migratePostgresQueue(options);
      await use({ backend: 'postgres', ...options, migrate: false });
    });

    it('is migrated by any number of processes at once', async () => {
      const options = create();
      const queues = Array.from({ length: 6 }, () => postgresQueue(options)());
      await Promise.all(queues.map((queue) => queue.open()));
      await Promise.all(queues.map((queue) => queue.close()));
      await use({ backend: 'postgres', ...options, migrate: false });
    });

    it('is migrated however long another process takes, and says when that fails', async () => {
      const options = create();
      const connection = { connectionString: POSTGRES_URL, query_timeout: 300 };
      const client = new pg.Client(POSTGRES_URL);
      await client.connect();
      cleanUp(() => client.end());
      const lock = `hashtext('nestjs-analytics-relay'), hashtext('${options.prefix}')`;
      await client.query(`SELECT pg_advisory_lock(${lock})`);
      const migrating = migratePostgresQueue({ ...options, connection });
      const ended = vi.fn();
      void migrating.then(ended, ended);
      const start = Date.now();
      await waitFor(() => Date.now() - start > 600);
      expect(ended).not.toHaveBeenCalled();
      await client.query(`SELECT pg_advisory_unlock(${lock})`);
      await migrating;
      await client.query(`DROP TABLE "${options.prefix}".relay_layout`);
      await expect(migratePostgresQueue(options)).rejects.toThrow(
        `the migration of schema "${options.prefix}" failed: `,
      );
    });

    it('refuses tables of another version, and leaves them as they are', async () => {
      const options = create();
      await migratePostgresQueue(options);
      await queryPostgres(`UPDATE ${options.prefix}.relay_layout SET version = 1000`);
      const error = 'have layout 1000, from another version of this package; this one has layout 1: install the other';
      await expect(postgresQueue(options)().open()).rejects.toThrow(error);
      await expect(postgresQueue({ ...options, migrate: false })().open()).rejects.toThrow(error);
      await expect(migratePostgresQueue(options)).rejects.toThrow(error);
      expect(await queryPostgres(`SELECT version FROM ${options.prefix}.relay_layout`)).toEqual([{ version: 1000 }]);
    });

    it('takes the settings of a pool that the application has, and leaves it alone', async () => {
      const settings = create();
      const { port, hostname: host, pathname } = new URL(POSTGRES_URL);
      const connection = new pg.Pool({ host, port: Number(port), user: 'postgres', database: pathname.slice(1) });
      cleanUp(() => connection.end());
      await use({ backend: 'postgres', ...settings, connection });
      expect((await connection.query('SHOW search_path')).rows).toEqual([{ search_path: '"$user", public' }]);
      expect(connection.totalCount).toBe(1);
    });
  });
});
