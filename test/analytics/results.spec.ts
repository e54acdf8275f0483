import { spawnSync } from 'node:child_process';
import { Readable } from 'node:stream';

import { Injectable } from '@nestjs/common';
import { AnalyticsContext, type CallContext, Track } from 'nestjs-analytics-relay';
import { BehaviorSubject, firstValueFrom, lastValueFrom, map, NEVER, Observable, of, retry, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { startProvider } from './support/recorded.provider.js';

const outcome = {
  userId: 'u1',
  on: 'both' as const,
  properties: (call: CallContext) =>
    'error' in call ? { error: (call.error as Error).message } : { result: call.result as unknown },
};

/** Runs when `then` is called, and each time it is: as queries of many libraries do. */
class Query {
  runs = 0;
  private readonly conditions: string[] = [];

  where(condition: string): this {
    this.conditions.push(condition);
    return this;
  }

  then(onKept?: (rows: string[]) => unknown, onBroken?: (error: unknown) => unknown): Promise<unknown> {
    this.runs++;
    return this.conditions.includes('fail')
      ? Promise.reject(new Error('no rows')).catch(onBroken)
      : Promise.resolve(this.conditions).then(onKept);
  }
}

class Cursor {
  constructor(private readonly rows: number[]) {}

  get size(): number {
    return this.rows.length;
  }

  async *[Symbol.asyncIterator]() {
    yield* this.rows;
    await Promise.resolve();
  }
}

/** Steps through documents by methods of its own, as cursors of MongoDB do. */
class DocumentCursor extends Cursor {
  private readonly documents = [{ done: true }, { done: false }];

  next(): Promise<object | null> {
    return Promise.resolve(this.documents.shift() ?? null);
  }
}

@Injectable()
class Results {
  attempts = 0;
  cleanedUp = false;
  readonly state = new BehaviorSubject(0);

  @Track('Generated', outcome)
  async *generate(...values: (number | Error)[]) {
    try {
      for (const value of values) {
        await Promise.resolve();
        if (value instanceof Error) throw value;
        yield value;
      }
      return 'end';
    } finally {
      this.cleanedUp = true;
    }
  }

  @Track('Returned', outcome)
  give<T>(value: T): T {
    return value;
  }

  @Track('Kept', { userId: 'u1' })
  keep<T>(value: T): T {
    return value;
  }

  @Track('Retried', { ...outcome, on: 'success' })
  retried(): Observable<string> {
    return new Observable((subscriber) => {
      if (++this.attempts < 3) return subscriber.error(new Error('again'));
      subscriber.next('third');
      subscriber.complete();
    });
  }

  @Track('Rejected', { ...outcome, on: 'error' })
  async reject(): Promise<never> {
    await Promise.resolve();
    throw new Error('rejected');
  }

  @Track('Scoped', { userId: 'u1', properties: () => ({ ...AnalyticsContext.get()?.context }) })
  async *scoped() {
    await Promise.resolve();
    yield 1;
  }
}

describe('A decorated method that returns', () => {
  const afterwards = useCleanUps();

  async function start() {
    const { target, events } = await startProvider(afterwards, Results);
    const outcomes = async () => (await events()).map(({ properties }) => properties);
    return { target, outcomes };
  }

  async function read<T>(iterable: AsyncIterable<T>): Promise<T[]> {
    const values: T[] = [];
    for await (const value of iterable) values.push(value);
    return values;
  }

  describe('a promise', () => {
    it('leaves a failure that nobody handles to the process', () => {
      const app = 'test/apps/unhandled.app.mjs';
      const { status, stderr } = spawnSync(process.execPath, [app], { encoding: 'utf8' });
      expect([status, stderr]).toEqual([1, expect.stringContaining('Error: nobody handles this')]);
    });

    it('keeps the caller in the stack of a failure', async () => {
      const { target } = await start();
      async function theCaller() {
        await target.reject();
      }
      const error = await theCaller().catch((reason: Error) => reason);
      expect((error as Error).stack).toContain('theCaller');
    });

    it('returns the very promise where it is more than one', async () => {
      const { target, outcomes } = await start();
      const child = Object.assign(Promise.resolve('exited'), { pid: 7 });
      const cancellable = Object.defineProperty(Promise.resolve('cancelled'), 'cancel', { value: () => undefined });
      for (const promise of [child, cancellable]) {
        expect(target.give(promise)).toBe(promise);
        await promise;
      }
      expect(await outcomes()).toEqual([{ result: 'exited' }, { result: 'cancelled' }]);
    });
  });

  describe('a thenable', () => {
    it('records its end, and has it run no more often than the caller has', async () => {
      const { target, outcomes } = await start();
      const query = new Query();
      expect(target.give(query)).toBe(query);
      expect(query.runs).toBe(0);
      expect(await outcomes()).toEqual([]);
      expect(await query.where('paid')).toEqual(['paid']);
      expect(await query).toEqual(['paid']);
      expect(query.runs).toBe(2);
      expect(await outcomes()).toEqual([{ result: ['paid'] }]);
      expect(Object.keys(query)).toEqual(Object.keys(new Query()));
    });

    it('records its failure, and lets it through', async () => {
      const { target, outcomes } = await start();
      await expect(Promise.resolve(target.give(new Query().where('fail')))).rejects.toThrow('no rows');
      expect(await outcomes()).toEqual([{ error: 'no rows' }]);
    });

    it('counts as a value where it cannot be followed', async () => {
      const { target, outcomes } = await start();
      const frozen = Object.freeze(new Query());
      expect(target.keep(frozen)).toBe(frozen);
      const refuse = (_target: object, key: PropertyKey) => {
        throw new Error(`there is no ${String(key)}`);
      };
      const strict = new Proxy({}, { get: refuse });
      expect(target.keep(strict)).toBe(strict);
      expect(await outcomes()).toHaveLength(2);
    });
  });

  describe('an async iterable', () => {
    it('is recorded once it is read, with the last value', async () => {
      const { target, outcomes } = await start();
      const generator = target.generate(1, 2, 3);
      expect(await outcomes()).toEqual([]);
      expect(await read(generator)).toEqual([1, 2, 3]);
      expect(await outcomes()).toEqual([{ result: 3 }]);
    });

    it('is recorded once when it is left early, and cleans up', async () => {
      const { target, outcomes } = await start();
      const generator = target.generate(1, 2, 3);
      for await (const value of generator) if (value === 2) break;
      expect(target.cleanedUp).toBe(true);
      expect(await generator.return('end')).toEqual({ done: true, value: 'end' });
      expect(await outcomes()).toEqual([{ result: 2 }]);
    });

    it('is recorded when it fails, and throws the same error', async () => {
      const { target, outcomes } = await start();
      const failure = new Error('broken');
      await expect(read(target.generate(1, failure))).rejects.toBe(failure);
      await expect(target.generate(1).throw(failure)).rejects.toBe(failure);
      expect(await outcomes()).toEqual([{ error: 'broken' }, { error: 'broken' }]);
    });

    it('is stepped as before', async () => {
      const { target } = await start();
      const generator = target.generate(1);
      expect(generator[Symbol.asyncIterator]()).toBe(generator);
      expect(Object.prototype.toString.call(generator)).toBe('[object AsyncGenerator]');
      expect(await generator.next()).toEqual({ done: false, value: 1 });
      expect(await generator.next()).toEqual({ done: true, value: 'end' });
    });

    it('is returned itself where it is more than an iterator, and recorded at the first reading', async () => {
      const { target, outcomes } = await start();
      const cursor = new Cursor([1, 2]);
      expect(target.give(cursor)).toBe(cursor);
      expect([cursor.size, await read(cursor), await read(cursor)]).toEqual([2, [1, 2], [1, 2]]);
      expect(await outcomes()).toEqual([{ result: 2 }]);
    });

    it('is recorded where it is an iterator written by hand', async () => {
      const { target, outcomes } = await start();
      const steps = [1, 2];
      const iterator = {
        next: () => Promise.resolve({ done: steps.length === 0, value: steps.shift() }),
        [Symbol.asyncIterator]: () => iterator,
      };
      expect(await read(target.give(iterator) as AsyncIterable<number>)).toEqual([1, 2]);
      expect(await outcomes()).toEqual([{ result: 2 }]);
    });

    it('counts as a value where its next is no step of an iteration', async () => {
      const { target, outcomes } = await start();
      const cursor = target.keep(new DocumentCursor([1, 2]));
      expect(await outcomes()).toHaveLength(1);
      expect([await cursor.next(), await cursor.next(), await cursor.next()]).toEqual([
        { done: true },
        { done: false },
        null,
      ]);
      expect(await read(cursor)).toEqual([1, 2]);
    });

    it('belongs to the scope of its call, wherever it is read', async () => {
      const { target, outcomes } = await start();
      const generator = AnalyticsContext.run({ context: { call: 'first' } }, () => target.scoped());
      await AnalyticsContext.run({ context: { call: 'second' } }, () => read(generator));
      expect(await outcomes()).toEqual([{ call: 'first' }]);
    });

    it('counts as a value where it is a stream', async () => {
      const { target, outcomes } = await start();
      const stream = Readable.from(['a']);
      expect(target.give({ stream }.stream)).toBe(stream);
      expect(await outcomes()).toHaveLength(1);
      expect(await read(stream)).toEqual(['a']);
    });
  });

  describe('an Observable', () => {
    it('is recorded once, at completion with the last value, however often it is subscribed', async () => {
      const { target, outcomes } = await start();
      const observable = target.give(of(0, 1).pipe(map((value) => value + 1)));
      expect(await outcomes()).toEqual([]);
      expect(await lastValueFrom(observable)).toBe(2);
      expect(await lastValueFrom(observable)).toBe(2);
      expect(await outcomes()).toEqual([{ result: 2 }]);
    });

    it('is recorded when the subscriber has enough, and not when it leaves without a value', async () => {
      const { target, outcomes } = await start();
      expect(await firstValueFrom(target.give(of(1, 2)))).toBe(1);
      target.give(NEVER).subscribe().unsubscribe();
      expect(await outcomes()).toEqual([{ result: 1 }]);
    });

    it('is recorded when it fails, and fails the same way', async () => {
      const { target, outcomes } = await start();
      await expect(lastValueFrom(target.give(throwError(() => new Error('broken'))))).rejects.toThrow('broken');
      expect(await outcomes()).toEqual([{ error: 'broken' }]);
    });

    it('is recorded when a retry succeeds', async () => {
      const { target, outcomes } = await start();
      expect(await lastValueFrom(target.retried().pipe(retry(2)))).toBe('third');
      expect(await outcomes()).toEqual([{ result: 'third' }]);
    });

    it('counts as a value where it has fields of its own', async () => {
      const { target, outcomes } = await start();
      const observable = Object.assign(of(1), { cancel: () => undefined });
      expect(target.keep(observable)).toBe(observable);
      expect(await outcomes()).toHaveLength(1);
    });

    it('is recorded when it ends, not before, where a promise resolves to it', async () => {
      const { target, outcomes } = await start();
      const observable = await target.give(Promise.resolve(of(1, 2)));
      expect(await outcomes()).toEqual([]);
      expect(await lastValueFrom(observable)).toBe(2);
      expect(await outcomes()).toEqual([{ result: 2 }]);
      await expect(
        lastValueFrom(await target.give(Promise.resolve(throwError(() => new Error('broken'))))),
      ).rejects.toThrow('broken');
      expect(await read(await target.give(Promise.resolve(target.generate(3, 4))))).toEqual([3, 4]);
      expect(await outcomes()).toEqual([{ result: 2 }, { error: 'broken' }, { result: 4 }, { result: 4 }]);
    });

    it('counts as a value where it is a subject', async () => {
      const { target, outcomes } = await start();
      expect(target.give(target.state)).toBe(target.state);
      expect(await outcomes()).toHaveLength(1);
    });
  });
});
