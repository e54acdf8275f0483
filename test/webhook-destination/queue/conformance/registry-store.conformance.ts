import { Logger } from '@nestjs/common';
import type { DeliveryQueue } from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { setClock } from '../../../support/clock.js';
import type { QueueEngine } from './delivery-queue.conformance.js';

type Store = NonNullable<DeliveryQueue['registry']>;

const DAY = 24 * 60 * 60 * 1_000;

const source = (name: string, document = `{"name":"${name}"}`) => ({ kind: 'source' as const, name, document });
const destination = (name: string, document?: string) => ({ ...source(name, document), kind: 'destination' as const });
/** What is left of a destination. */
const removed = (name: string) => ({ kind: 'destination' as const, name, document: undefined });

/** What every engine must do with sources and destinations that change. */
export function itKeepsARegistry(engine: QueueEngine): void {
  describe(`the registry store on ${engine.name}`, () => {
    let place: Awaited<ReturnType<QueueEngine['create']>>;
    let queue: DeliveryQueue;
    let store: Store;

    const open = async () => {
      queue = place.factory();
      await queue.open();
      store = queue.registry;
    };

    beforeEach(async () => {
      vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
      place = await engine.create();
      await open();
    });
    afterEach(async () => {
      vi.restoreAllMocks();
      await queue.close();
      await place.remove();
    });

    const put = async (record: Parameters<Store['write']>[0], expected = 0): Promise<number> => {
      const revision = await store.write(record, expected);
      if (revision === undefined) throw new Error(`${record.kind} ${record.name} is not at revision ${expected}`);
      return revision;
    };

    it('is empty at first', async () => {
      expect(await store.read(0)).toEqual([]);
    });

    it('keeps records of both kinds, whatever their names and documents', async () => {
      const document = JSON.stringify({ text: 'é"\\\n\u2028😀\0 \'); --', long: 'x'.repeat(100_000) });
      const records = [source('a'), destination('a'), destination('A b: {1}', document), source("é'%😀", '')];
      const revisions: number[] = [];
      for (const record of records) revisions.push(await put(record));
      expect(await store.read(0)).toEqual(records.map((record, index) => ({ ...record, revision: revisions[index] })));
    });

    it('gives each change a revision above all before, and that of the present time at least', async () => {
      const before = Date.now();
      const revisions = [await put(source('a')), await put(destination('b'))];
      revisions.push(await put(source('a', '2'), revisions[0]), await put(destination('c')));
      revisions.push(await put(removed('b'), revisions[1]));
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
      // Redis and PostgreSQL have clocks of their own.
      expect(revisions[0]).toBeGreaterThan(before - 1_000);
      const changed = async (after: number) => (await store.read(after)).map(({ name }) => name);
      expect(await changed(0)).toEqual(['a', 'c', 'b']);
      expect(await changed(revisions[1]!)).toEqual(['a', 'c', 'b']);
      expect(await changed(revisions[2]!)).toEqual(['c', 'b']);
      expect(await changed(revisions[4]!)).toEqual([]);
    });

    it('changes nothing where the revision is another one', async () => {
      const revision = await put(destination('a', '1'));
      for (const expected of [0, revision - 1, revision + 1]) {
        expect(await store.write(destination('a', '2'), expected)).toBeUndefined();
        expect(await store.write(removed('a'), expected)).toBeUndefined();
      }
      expect(await store.write(source('a'), revision)).toBeUndefined();
      expect(await store.read(0)).toEqual([{ ...destination('a', '1'), revision }]);
      const next = await put(destination('a', '2'), revision);
      expect(await store.write(destination('a', '3'), revision)).toBeUndefined();
      expect(await store.read(0)).toEqual([{ ...destination('a', '2'), revision: next }]);
    });

    it('keeps the name of what was removed, which can be created again', async () => {
      const created = await put(destination('a', '1'));
      const revision = await put(removed('a'), created);
      expect(await store.read(0)).toEqual([{ ...removed('a'), revision }]);
      expect(await store.write(destination('a', '2'), created)).toBeUndefined();
      expect(await store.write(destination('a', '2'), revision)).toBeUndefined();
      const recreated = await put(destination('a', '2'));
      expect(recreated).toBeGreaterThan(revision);
      expect(await store.read(revision)).toEqual([{ ...destination('a', '2'), revision: recreated }]);
    });

    it('forgets what was removed with a sweep after 30 days, and nothing else', async () => {
      await put(source('kept'));
      await put(removed('gone'), await put(destination('gone')));
      await put(destination('again'), (await put(removed('again'), await put(destination('again')))) * 0);
      const names = async () => (await store.read(0)).map(({ name }) => name);
      setClock(29 * DAY);
      await queue.sweep();
      expect(await names()).toEqual(['kept', 'gone', 'again']);
      vi.restoreAllMocks();
      setClock(31 * DAY);
      await queue.sweep();
      expect(await names()).toEqual(['kept', 'again']);
      await put(destination('gone'));
      expect(await names()).toEqual(['kept', 'again', 'gone']);
    });

    it('forgets removed sessions with a sweep after 12 hours, by when no process honours them', async () => {
      const session = { kind: 'session' as const, name: 'gone' };
      const revision = await store.write({ ...session, document: '{}' }, 0);
      await store.write({ ...session, document: undefined }, revision!);
      await put(removed('entry'), await put(destination('entry')));
      const names = async () => (await store.read(0)).map(({ name }) => name);
      setClock(0.4 * DAY);
      await queue.sweep();
      expect(await names()).toEqual(['gone', 'entry']);
      vi.restoreAllMocks();
      setClock(0.6 * DAY);
      await queue.sweep();
      expect(await names()).toEqual(['entry']);
    });

    it('lets one of several writers win', async () => {
      const revision = await put(destination('a', '0'));
      for (const expected of [revision, 0]) {
        const name = expected === 0 ? 'new' : 'a';
        const documents = Array.from({ length: 20 }, (_, index) => String(index));
        const written = await Promise.all(
          documents.map((document) => store.write(destination(name, document), expected)),
        );
        const [winner, ...others] = written.filter((one) => one !== undefined);
        expect(others).toEqual([]);
        const document = String(written.indexOf(winner));
        expect((await store.read(0)).at(-1)).toEqual({ ...destination(name, document), revision: winner });
      }
    });

    it('shows a reader all changes of concurrent writers, in their order', async () => {
      const count = 100;
      const seen: string[] = [];
      let last = 0;
      let isOver = false;
      const reading = (async () => {
        while (!isOver || (await store.read(last)).length > 0) {
          const records = await store.read(last);
          const revisions = records.map(({ revision }) => revision);
          expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
          last = revisions.at(-1) ?? last;
          seen.push(...records.map(({ name }) => name));
        }
      })();
      const names = Array.from({ length: count }, (_, index) => `d${index}`);
      await Promise.all(names.map((name) => put(destination(name))));
      isOver = true;
      await reading;
      expect(seen).toHaveLength(count);
      expect(new Set(seen)).toEqual(new Set(names));
    });

    it('has all when it is opened again', async () => {
      const first = await put(source('a'));
      await put(removed('b'), await put(destination('b')));
      await put(destination('c', '1'));
      const records = await store.read(0);
      await queue.close();
      await open();
      expect(await store.read(0)).toEqual(records);
      expect(await store.write(source('a', '2'), first)).toBeGreaterThan(records.at(-1)!.revision);
    });
  });
}
