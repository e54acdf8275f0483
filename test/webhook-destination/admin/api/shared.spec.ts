import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Redis } from 'ioredis';
import type { AuditEntry, WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { Forwarder } from '../../../support/forwarder.js';
import { sharedQueue, type SharedQueueOptions } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { describeOnEach, postgresStore, queryPostgres, REDIS_URL, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { readStream, signIn, startApi, track } from './support.js';

/** What somebody else may send on a channel: no JSON, or JSON of another shape. */
const FOREIGN = ['hi', '', 'null', '{}', '[]', '[1,{}]', '"text"'];

/** The same, as one process sends texts to others; the last are of another version. */
const FOREIGN_TEXTS = [
  ...FOREIGN,
  '{"events":1,"missed":0}',
  '{"events":[],"missed":"1"}',
  '{"events":[null,{"kind":"x\\n"},{"kind":"dead","at":1,"source":"s","destinations":1}],"missed":0}',
  '{"ask":true,"from":1,"filters":[null,{"kind":1}]}',
  '{"replay":1,"cancel":true}',
  '{"replayed":{"id":"none"}}',
  '{"other":true}',
];

/** Sends to all channels between the processes of a place. */
async function sendForeign({ backend, prefix }: SharedQueueOptions): Promise<void> {
  if (backend === 'postgres') {
    const texts = FOREIGN_TEXTS.map((text) => JSON.stringify([prefix, 'other', text]));
    const payloads = [...FOREIGN, JSON.stringify([prefix]), JSON.stringify([prefix, 'other']), ...texts];
    const statements = ['registry', 'due', 'purged', 'peer'].flatMap((channel) =>
      payloads.map((payload) => `SELECT pg_notify('relay_${channel}', '${payload}')`),
    );
    await queryPostgres(statements.join('; '));
    return;
  }
  const redis = new Redis(REDIS_URL);
  const texts = FOREIGN_TEXTS.map((text) => JSON.stringify(['other', text]));
  for (const message of [...FOREIGN, '["other"]', ...texts]) {
    for (const channel of ['{registry}:changed', 'due', 'peer']) {
      expect(await redis.publish(`${prefix}:${channel}`, message)).toBeGreaterThan(0);
    }
  }
  redis.disconnect();
}

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`Two applications on one ${store.name}`, () => {
    const cleanUp = useCleanUps();

    const create = () => {
      const { options, remove } = store.create();
      cleanUp(remove);
      const start = (others: Partial<WebhookDestinationModuleOptions> = {}) =>
        startApi(cleanUp, new ExpressAdapter(), { options: { queue: sharedQueue(options), ...others } });
      return { start, options };
    };

    it('have the same sessions, which end in both within a second', async () => {
      const { start } = create();
      const [one, other] = [await start(), await start()];
      const { asked } = await signIn(one);
      expect((await other.ask('GET', 'overview', asked())).status).toBe(200); // at once
      const { hasEnded } = await readStream(await other.ask('GET', 'events', asked()));
      expect((await one.ask('DELETE', 'session', { ...asked(), body: {} })).status).toBe(200);
      await waitFor(hasEnded, undefined, 1_000);
      expect((await other.ask('GET', 'overview', asked())).status).toBe(401);
    });

    it('honour sign-out at once while the store is unavailable, and everywhere afterwards', async () => {
      const { start, options } = create();
      const forwarder = await Forwarder.start(cleanUp, store.url);
      const { target } = forwarder;
      const queue = sharedQueue({ ...options, connection: forwarder.url });
      const [one, other] = [await start(), await start({ queue })];
      const signOut = async ({ asked }: Awaited<ReturnType<typeof signIn>>) => {
        const response = await other.ask('DELETE', 'session', { ...asked(), body: {} });
        expect(response.status).toBe(200);
        expect(response.headers.getSetCookie()[0]).toMatch(/^relay_session=; .*Max-Age=0/);
        return (await other.ask('GET', 'overview', asked())).status;
      };
      const [early, late] = [await signIn(other), await signIn(other)];
      const { hasEnded } = await readStream(await other.ask('GET', 'events', early.asked()));
      forwarder.mute();
      expect(await signOut(early)).toBe(401);
      await waitFor(hasEnded, undefined, 5_000);
      forwarder.cut();
      expect(await signOut(late)).toBe(401);
      forwarder.target = target;
      for (const { asked } of [early, late]) {
        await waitFor(async () => (await one.ask('GET', 'session', asked())).status === 401, undefined, 20_000);
        expect((await other.ask('GET', 'overview', asked())).status).toBe(401);
      }
    }, 30_000);

    it('honour a session for 5 minutes while they cannot read the store', async () => {
      const { start, options } = create();
      const forwarder = await Forwarder.start(cleanUp, store.url);
      const { target } = forwarder;
      const { ask, json, get } = await start({ queue: sharedQueue({ ...options, connection: forwarder.url }) });
      const { asked } = await signIn({ json });
      forwarder.cut();
      expect(await get('session', asked())).toMatchObject({ by: 'session' });
      const { now } = performance;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 5 * 60_000);
      expect(await json('GET', 'session', asked())).toMatchObject({
        status: 503,
        answer: { code: 'queue_unavailable', message: expect.stringContaining('sessions cannot be read') },
      });
      clock.mockRestore();
      forwarder.target = target;
      await waitFor(async () => (await ask('GET', 'session', asked())).status === 200, undefined, 20_000);
    }, 30_000);

    it('see what happens in both, and how much is left out', async () => {
      const { start } = create();
      const [watched, other] = [await start(), await start()];
      const { events } = await readStream(await watched.ask('GET', 'events?kind=message'));
      expect(events[0]).toMatchObject({ name: 'hello', data: { scope: 'queue' } });
      const shown = () => events.filter(({ name }) => name === 'message').map(({ data }) => data.messageId as string);
      let sent = 0;
      await waitFor(async () => {
        await other.relay.accept('wk_shop', [track(`other-${sent++}`)]);
        return shown().length > 0;
      });
      await watched.relay.accept('wk_shop', [track('own')]);
      await waitFor(() => shown().includes('own'));
      expect(shown().filter((id) => id === 'own')).toHaveLength(1);

      const many = Array.from({ length: 500 }, (_, index) => track(`many-${index}`));
      await other.relay.accept('wk_shop', many);
      const missed = () =>
        events.reduce((sum, { name, data }) => sum + (name === 'missed' ? (data.count as number) : 0), 0);
      await waitFor(() => shown().filter((id) => id.startsWith('many')).length + missed() >= many.length);
      expect(missed()).toBeGreaterThan(0);
    });

    it('send each other what is asked for, and nothing in its place', async () => {
      const { start } = create();
      const destinations = ['Flood', 'Rare'].map((name) => ({ name, urls: ['http://127.0.0.1:9/'], events: [name] }));
      const [watched, other] = [await start(), await start({ destinations, mode: 'ingest' })];
      const { events } = await readStream(await watched.ask('GET', 'events?destination=Rare'));
      let sent = 0;
      /** Its last message is for the destination that is watched. */
      const accept = async (flood: number) => {
        const rare = track(`rare-${sent++}`, { event: 'Rare' });
        const many = Array.from({ length: flood }, (_, index) => track(`${sent}-${index}`, { event: 'Flood' }));
        await other.relay.accept('wk_shop', [...many, rare]);
        return () => events.some(({ data }) => data.messageId === rare.messageId);
      };
      await waitFor(async () => {
        await accept(0);
        return events.length > 1; // the other process knows what is asked for
      });
      await waitFor(await accept(500), undefined, 10_000);
      await waitFor(await accept(0)); // what was missed before it comes first
      expect(events.filter(({ name }) => name === 'missed')).toEqual([]);

      const all = await readStream(await watched.ask('GET', 'events?kind=message'));
      await waitFor(async () => {
        await accept(1);
        return all.events.some(({ data }) => data.event === 'Flood');
      });
    });

    it('ignore what others send on their channels', async () => {
      const { start, options } = create();
      const [watched, other] = [await start(), await start()];
      const { events } = await readStream(await watched.ask('GET', 'events'));
      const isSeen = (id: string, kind: string) =>
        events.some(({ name, data }) => name === kind && data.messageId === id);
      const acceptUntilSeen = (id: string) =>
        waitFor(async () => {
          await other.relay.accept('wk_shop', [track(id)]);
          return isSeen(id, 'message');
        });
      await acceptUntilSeen('before');
      await sendForeign(options);
      await acceptUntilSeen('after');
      await waitFor(() => isSeen('after', 'delivered'));
      const kinds = ['hello', 'message', 'duplicate', 'delivered'];
      expect(events.map(({ name }) => name).filter((name) => !kinds.includes(name))).toEqual([]);
    });

    it('show and cancel the replays of each other', async () => {
      const { start } = create();
      const [owner, other] = [await start(), await start({ mode: 'ingest' })];
      owner.receiver.statuses = Array.from({ length: 3 }, () => 404);
      await owner.relay.accept('wk_shop', [track('m1'), track('m2'), track('m3')]);
      await waitFor(async () => (await owner.relay.deliveries({ state: 'dead' })).length === 3);
      const release: (() => void)[] = [];
      const held = new Promise<void>((resolve) => release.push(resolve));
      const replay = owner.relay.replay.bind(owner.relay);
      vi.spyOn(owner.relay, 'replay').mockImplementation((query) => held.then(() => replay(query)));
      const audit: AuditEntry[] = [];
      other.relay.audit$.subscribe((entry) => audit.push(entry));
      const { answer } = await owner.json('POST', 'replays', { body: { query: { userId: 'u1' }, expected: 3 } });
      const cancelled = answer.id;
      expect(await other.get(`replays/${cancelled}`)).toMatchObject({ id: cancelled, state: 'running', left: 3 });
      expect(await other.json('DELETE', `replays/${cancelled}`)).toMatchObject({
        status: 200,
        answer: { id: cancelled, state: 'cancelled' },
      });
      expect(audit).toMatchObject([{ action: 'deliveries.replay.cancel', target: cancelled }]);
      expect(await owner.get(`replays/${cancelled}`)).toMatchObject({ state: 'cancelled' });

      release[0]!();
      await waitFor(async () => (await owner.get(`replays/${cancelled}`)).left === 0);
      expect(await other.json('GET', 'replays/none')).toMatchObject({
        status: 404,
        answer: { code: 'replay_unknown' },
      });
    });

    it('search portion by portion, whatever the name of the destination', async () => {
      const { start } = create();
      const destinations = ['Café / ☕', 'x'.repeat(200)].map((name) => ({ name, urls: ['http://127.0.0.1:9/'] }));
      const { get, relay } = await start({ destinations, mode: 'ingest' });
      await relay.accept('wk_shop', [track('m1'), track('m2')]);
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await get(
          `deliveries?limit=1${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        found.push(...page.deliveries.map(({ id }) => id));
        ({ cursor } = page);
      } while (cursor !== undefined);
      expect(new Set(found).size).toBe(4);
      expect(found).toHaveLength(4);
    });

    it('add up their figures, which outlive them', async () => {
      const { start } = create();
      const first = await start();
      await first.relay.accept('wk_shop', [track('m1')]);
      await first.app.close();
      const second = await start();
      await second.relay.accept('wk_shop', [track('m2')]);
      const { points } = await second.get('timeseries?metric=accepted');
      expect(points.reduce((sum, { accepted }) => sum + accepted!, 0)).toBe(2);
      expect(await second.get('sources/shop?figures=true')).toMatchObject({ figures: { accepted: 2 } });
    });
  });
});
