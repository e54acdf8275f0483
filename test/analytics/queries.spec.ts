import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { Injectable } from '@nestjs/common';
import { type CallContext, Track } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { waitFor } from '../support/wait-for.js';
import { startProvider } from './support/recorded.provider.js';

// The shapes of the libraries' own queries; the real ones would bring 40 MB of dependencies.
type Settle = ((value: unknown) => unknown) | null;

/** Runs a query, and counts how often. */
class Database {
  runs = 0;
  async run(isBroken = false): Promise<string[]> {
    this.runs++;
    await Promise.resolve();
    if (isBroken) throw new Error('no such table');
    return ['row'];
  }
}

/** Each of its methods runs the query by itself. */
const prismaPromise = (database: Database, isBroken?: boolean) => ({
  then: (kept?: Settle, broken?: Settle) => database.run(isBroken).then(kept, broken),
  catch: (broken?: Settle) => database.run(isBroken).catch(broken),
  finally: (act?: () => void) => database.run(isBroken).finally(act),
  requestTransaction: () => database.run(isBroken),
  [Symbol.toStringTag]: 'PrismaPromise',
});

class MongooseQuery {
  constructor(private readonly database: Database) {}
  where(): this {
    return this;
  }
  get(): string {
    return 'a field of the update';
  }
  exec(): Promise<unknown> {
    return this.database.run();
  }
  then(kept?: Settle, broken?: Settle): Promise<unknown> {
    return this.exec().then(kept, broken);
  }
  catch(broken?: Settle): Promise<unknown> {
    return this.exec().then(null, broken);
  }
}

class KnexBuilder {
  constructor(private readonly database: Database) {}
  then(kept?: Settle, broken?: Settle): Promise<unknown> {
    return this.database.run().then(kept, broken);
  }
  catch(broken?: Settle): Promise<unknown> {
    return this.then().catch(broken);
  }
  asCallback(callback: (error: unknown, rows?: unknown) => void): Promise<unknown> {
    const promise = this.then();
    promise.then((rows) => callback(null, rows), callback);
    return promise;
  }
}

class DrizzleQuery {
  constructor(private readonly database: Database) {}
  values(...rows: unknown[]): unknown {
    return rows.length > 0 ? this : this.execute(); // continues the query, or runs it
  }
  execute(): Promise<unknown> {
    return this.database.run();
  }
  get(): unknown {
    this.database.runs++;
    return ['row']; // with a synchronous driver
  }
  then(kept?: Settle, broken?: Settle): Promise<unknown> {
    return this.execute().then(kept, broken);
  }
}

/** A promise that runs when it is awaited, as that of postgres.js. */
class LazyPromise extends Promise<unknown> {
  static override get [Symbol.species]() {
    return Promise;
  }
  private resolve!: (value: unknown) => void;
  constructor(private readonly database: Database) {
    let resolve!: (value: unknown) => void;
    super((settle) => (resolve = settle));
    this.resolve = resolve;
  }
  override then<A, B>(
    kept?: ((value: unknown) => A | PromiseLike<A>) | null,
    broken?: ((error: unknown) => B | PromiseLike<B>) | null,
  ) {
    this.resolve(this.database.run());
    return super.then(kept, broken);
  }
}

@Injectable()
class Repository {
  @Track('Queried', {
    userId: 'u1',
    on: 'both',
    properties: ({ result, ...call }: CallContext) => ({ result: 'error' in call ? 'failed' : (result as unknown) }),
  })
  give<T>(value: T): T {
    return value;
  }

  @Track('Dropped', { userId: 'u1' })
  drop<T>(value: T): T {
    return value;
  }
}

describe('A decorated method that returns a query', () => {
  const afterwards = useCleanUps();

  it.each<[string, (give: <T>(query: T) => T, database: Database) => unknown]>([
    ['await, of Prisma', (give, database) => give(prismaPromise(database))],
    ['catch, of Prisma', (give, database) => give(prismaPromise(database)).catch(null)],
    ['finally, of Prisma', (give, database) => give(prismaPromise(database)).finally(() => undefined)],
    ['$transaction, of Prisma', (give, database) => give(prismaPromise(database)).requestTransaction()],
    ['exec, of mongoose', (give, database) => give(new MongooseQuery(database)).exec()],
    ['exec after more conditions', (give, database) => give(new MongooseQuery(database)).where().exec()],
    ['catch, of mongoose', (give, database) => give(new MongooseQuery(database)).catch(null)],
    ['await after a getter, of mongoose', (give, database) => (give(new MongooseQuery(database)).get(), 1)],
    ['asCallback, of knex', (give, database) => give(new KnexBuilder(database)).asCallback(() => undefined)],
    ['catch, of knex', (give, database) => give(new KnexBuilder(database)).catch(null)],
    ['execute, of drizzle', (give, database) => give(new DrizzleQuery(database)).execute()],
    ['get, of drizzle', (give, database) => give(new DrizzleQuery(database)).get()],
    ['a method that continues, then await', (give, database) => give(new DrizzleQuery(database)).values(1)],
    ['await, of postgres.js', (give, database) => give(new LazyPromise(database))],
  ])('is recorded once, with the result, when it runs by %s', async (_how, use) => {
    const { target, events } = await startProvider(afterwards, Repository);
    const database = new Database();
    let query: unknown;
    let keys: unknown[] = [];
    const give = <T>(value: T): T => {
      query = value;
      keys = Reflect.ownKeys(value as object);
      const given = target.give(value);
      expect(given).toBe(value);
      return given;
    };
    await use(give, database);
    if (database.runs === 0) await query;
    expect(database.runs).toBe(1);
    expect((await events()).map(({ properties }) => properties)).toEqual([{ result: ['row'] }]);
    expect(Reflect.ownKeys(query as object)).toEqual(keys);
  });

  it('is recorded as failed when the caller handles the failure by catch', async () => {
    const { target, events } = await startProvider(afterwards, Repository);
    expect(await target.give(prismaPromise(new Database(), true)).catch(() => 'handled')).toBe('handled');
    expect((await events()).map(({ properties }) => properties)).toEqual([{ result: 'failed' }]);
  });

  it('does not run what its caller does not run', async () => {
    const { target, events } = await startProvider(afterwards, Repository);
    const database = new Database();
    for (const query of [new LazyPromise(database), prismaPromise(database)]) void target.give({ query }.query);
    await new Promise((resolve) => setImmediate(resolve));
    expect([database.runs, await events()]).toEqual([0, []]);
  });

  it('is warned about once, by name, if the query is dropped or runs by another method', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { target, log } = await startProvider(afterwards, Repository);
    for (let i = 0; i < 10; i++) void target.drop(prismaPromise(new Database()));
    const warnings = () =>
      log.matching(/^warn Repository\.drop was not recorded: the query that it returned was dropped/);
    await waitFor(() => {
      collectGarbage();
      return warnings().length > 0;
    });
    expect(warnings()).toHaveLength(1);
  });
});
