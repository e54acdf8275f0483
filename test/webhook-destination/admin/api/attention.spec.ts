import { memoryQueue } from 'nestjs-analytics-relay';
import { NEVER } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { onFastify } from '../../../support/platforms.js';
import { Receiver } from '../../../support/receiver.js';
import { ScriptedReceiver } from '../../../support/scripted-receiver.js';
import { waitFor } from '../../../support/wait-for.js';
import { startApi, track } from './support.js';

interface Problem {
  destination: string;
  problem: string;
  open: number;
  dead: number;
  lastFailure?: Record<string, unknown>;
}

describe.each(onFastify)('What needs attention on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();
  const delivery = { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 600_000, concurrency: 20 };

  async function startReceiver(status: number) {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    receiver.statuses = [status];
    return receiver;
  }

  /** Destinations that work, are down, refuse all, and have a backlog at their rate limit, with 12 messages each. */
  async function startWithProblems() {
    const [works, down, refuses] = [await startReceiver(200), await startReceiver(503), await startReceiver(404)];
    const queue = memoryQueue()();
    const api = await startApi(cleanUp, createAdapter(), {
      options: {
        queue: () => queue,
        destinations: [
          { name: 'works', urls: [works.url] },
          { name: 'down', urls: [down.url] },
          { name: 'refuses', urls: [refuses.url] },
          { name: 'limited', urls: [works.url], rateLimit: { requests: 1, per: 600_000 } },
        ],
        delivery,
      },
    });
    const messages = Array.from({ length: 12 }, (_, index) => track(`m${index}`));
    await api.relay.accept('wk_shop', messages);
    await waitFor(async () => {
      const counts = await api.relay.stats();
      const of = (name: string, state: string) =>
        counts.find((row) => row.destination === name && row.state === state)?.count ?? 0;
      return of('works', 'delivered') === 12 && of('refuses', 'dead') === 12 && of('limited', 'delivered') === 1;
    });
    await waitFor(async () => (await api.get('overview')).down === 1);
    return { ...api, queue };
  }

  const read = async ({ get }: Pick<Awaited<ReturnType<typeof startApi>>, 'get'>) => {
    const answer = await get('attention');
    return { ...answer, destinations: answer.destinations as Problem[], counts: answer.counts };
  };

  it('is what is down and fails, each with its last failure, and nothing that works', async () => {
    const api = await startWithProblems();
    const { destinations, counts } = await read(api);
    expect(destinations).toMatchObject([
      { destination: 'down', problem: 'down', dead: 0, lastFailure: { status: 503 } },
      {
        destination: 'refuses',
        problem: 'failing',
        open: 0,
        dead: 12,
        lastFailure: { status: 404, reason: 'every URL failed permanently' },
      },
    ]);
    expect(counts).toEqual({ down: 1, failing: 1 });
    expect(JSON.stringify(destinations)).not.toContain('/hook');
  });

  it('is a backlog at a rate limit once it is late, which is not a failure', async () => {
    const api = await startWithProblems();
    const oldest = await api.queue.oldest();
    vi.spyOn(api.queue, 'oldest').mockResolvedValue(
      oldest.map((one) => ({ ...one, dueAt: Date.now() - (one.destination === 'limited' ? 61_000 : 0) })),
    );
    await waitFor(async () => (await read(api)).counts !== undefined && (await read(api)).destinations.length === 3);
    expect((await read(api)).destinations[2]).toMatchObject({
      destination: 'limited',
      problem: 'limited',
      open: 11,
      urls: 1,
      rateLimit: { requests: 1, per: 600_000 },
      perMinute: expect.closeTo(0.2, 1), // of whole minutes
    });
  });

  it('is down as soon as the overview says so', async () => {
    const receiver = await startReceiver(404);
    const api = await startApi(cleanUp, createAdapter(), {
      options: { destinations: [{ name: 'falls', urls: [receiver.url] }], delivery },
    });
    await api.relay.accept('wk_shop', [track('m1')]);
    await waitFor(async () => (await api.relay.deliveries({ state: 'dead' })).length === 1);
    await waitFor(async () => (await read(api)).destinations.length === 1); // has read the figures
    receiver.statuses = [503];
    await api.relay.accept(
      'wk_shop',
      Array.from({ length: 12 }, (_, index) => track(`n${index}`)),
    );
    await waitFor(async () => (await api.get('overview')).down === 1);
    expect((await read(api)).counts).toEqual({ down: 1 });
  });

  it('is searched for where another process has seen the failure', async () => {
    const receiver = await startReceiver(404);
    const queue = memoryQueue()();
    const options = { queue: () => queue, destinations: [{ name: 'refuses', urls: [receiver.url] }], delivery };
    const first = await startApi(cleanUp, createAdapter(), { options });
    await first.relay.accept('wk_shop', [track('m1')]);
    await waitFor(async () => (await first.relay.stats()).some(({ state }) => state === 'dead'));
    await first.app.close();
    const second = await startApi(cleanUp, createAdapter(), { options });
    expect((await read(second)).destinations).toMatchObject([{ lastFailure: { status: 404 } }]);
  });

  it('is searched for where another process may have seen a later failure', async () => {
    const receiver = await startReceiver(404);
    const queue = memoryQueue()();
    const peers = { received$: NEVER, send: () => Promise.resolve() };
    const api = await startApi(cleanUp, createAdapter(), {
      options: {
        queue: () => Object.assign(queue, { peers }),
        destinations: [{ name: 'refuses', urls: [receiver.url] }],
        delivery,
      },
    });
    await api.relay.accept('wk_shop', [track('m1')]);
    await waitFor(async () => (await api.relay.stats()).some(({ state }) => state === 'dead'));
    const now = Date.now() + 61_000;
    const { deliveries } = await queue.searches.search({ state: 'dead' });
    const [attempt] = deliveries[0]!.attempts;
    const later = { ...attempt!, startedAt: now, results: [{ ...attempt!.results[0]!, status: 401 }] };
    vi.spyOn(queue.searches, 'search').mockResolvedValue({
      deliveries: [{ ...deliveries[0]!, attempts: [later] }],
      next: undefined,
    });
    expect((await read(api)).destinations).toMatchObject([{ lastFailure: { status: 404 } }]);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
    const { destinations } = await read(api);
    clock.mockRestore();
    expect(destinations).toMatchObject([{ lastFailure: { at: now, status: 401 } }]);
  });

  it('comes first in the list of destinations, which has other orders too', async () => {
    const { get, json } = await startWithProblems();
    const names = async (query: string) =>
      (await get(`destinations?${query}`)).destinations.map((one) => (one as { name: string }).name);
    expect(await names('sort=health')).toEqual(['down', 'refuses', 'limited', 'works']);
    expect((await names('sort=failures'))[0]).toBe('refuses');
    expect((await names('sort=backlog')).slice(0, 2)).toEqual(['down', 'limited']);
    expect(await names('sort=name')).toEqual(['down', 'limited', 'refuses', 'works']);
    expect(await names('sort=p95')).toHaveLength(4);
    const page = await get('destinations?sort=backlog&limit=3&figures=true');
    expect(page.destinations).toHaveLength(3);
    expect(await names(`sort=backlog&limit=3&cursor=${page.cursor}`)).toEqual(['works']);
    for (const query of ['sort=age', 'sort=health&cursor=down']) {
      expect(await json('GET', `destinations?${query}`)).toMatchObject({
        status: 400,
        answer: { code: 'query_invalid' },
      });
    }
    expect((await json('GET', 'sources?sort=health')).status).toBe(400);
  });

  it('leaves the order of a few destinations to their figures of now', async () => {
    const answers: (() => void)[] = [];
    const slow = await ScriptedReceiver.start((response) => void answers.push(() => response.writeHead(200).end()));
    cleanUp(() => slow.stop());
    const api = await startApi(cleanUp, createAdapter(), {
      options: {
        destinations: [
          { name: 'works', urls: [(await startReceiver(200)).url] },
          { name: 'slow', urls: [slow.url] },
        ],
        delivery,
      },
    });
    await api.relay.accept('wk_shop', [track('m1')]);
    await waitFor(
      async () => answers.length === 1 && (await api.relay.deliveries({ state: 'delivered' })).length === 1,
    );
    await waitFor(async () => (await api.get('attention')).undelivered === 1); // has read the figures of `slow`, without a duration
    answers[0]!();
    await waitFor(async () => (await api.relay.deliveries({ state: 'delivered' })).length === 2);
    expect((await api.get('destinations?sort=p95')).destinations[0]).toMatchObject({ name: 'slow' });
  });
});
