import { memoryQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { onExpress } from '../../support/platforms.js';
import { portalIds, startPortal, track } from './support.js';

describe.each(onExpress)('An id that is not among those of the tenant', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('is refused without a read of a store, so the time reveals nothing of what others have', async () => {
    const queue = memoryQueue()();
    const { relay, receiver, tokenOf, as, ask } = await startPortal(afterwards, createAdapter(), {
      options: { queue: () => queue },
    });
    const token = await tokenOf('acme');
    const [acme, globex] = [as(token), as(await tokenOf('globex'))];
    const { id: own } = await acme('POST', 'endpoints', { url: receiver.url });
    const { id: other } = await globex('POST', 'endpoints', { url: receiver.url });
    await relay.accept('wk_acme', [track('a1')]);
    await relay.accept('wk_globex', [track('g1')]);
    await receiver.received(2);
    const { deliveries } = await globex('GET', `endpoints/${other}/deliveries`);
    const mine = (await acme('GET', `endpoints/${own}/deliveries`)).deliveries[0]!.id as string;
    const foreign = deliveries[0]!.id as string;

    const reads = [vi.spyOn(queue, 'list'), vi.spyOn(queue.searches, 'search'), vi.spyOn(queue.registry, 'read')];
    const readsFor = async (path: string) => {
      const before = reads.map(({ mock }) => mock.calls.length);
      const { status } = await ask('GET', path, { token });
      return [status, ...reads.map(({ mock }, index) => mock.calls.length - before[index]!)];
    };
    const endpoints = [other, portalIds().endpoint('operator'), portalIds().endpoint('none'), 'ep_1'];
    for (const id of endpoints) {
      expect([id, await readsFor(`endpoints/${id}`)]).toEqual([id, [404, 0, 0, 0]]);
      expect([id, await readsFor(`endpoints/${id}/deliveries`)]).toEqual([id, [404, 0, 0, 0]]);
    }
    const unknown = portalIds().conceal('globex', '999999');
    for (const id of [foreign, unknown, `dl_${'A'.repeat(foreign.length - 3)}`, 'dl_1']) {
      expect([id, await readsFor(`deliveries/${id}`)]).toEqual([id, [404, 0, 0, 0]]);
    }
    // The counts are of the reads that are made.
    expect(await readsFor(`endpoints/${own}/deliveries`)).toEqual([200, 0, 1, 0]);
    expect(await readsFor(`deliveries/${mine}`)).toEqual([200, 1, 0, 0]);
  });
});
