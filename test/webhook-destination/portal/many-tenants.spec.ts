import { memoryQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { onFastify } from '../../support/platforms.js';
import { startPortal } from './support.js';

const TENANTS = 10_000;
const ENDPOINTS = 3;

/** Longest time of an answer, in ms. */
const LONGEST = 200;

describe.each(onFastify)('A portal of 10,000 tenants with 3 endpoints each', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('answers each tenant within 200 ms', async () => {
    const queue = memoryQueue()();
    for (let tenant = 0; tenant < TENANTS; tenant++) {
      for (let index = 0; index < ENDPOINTS; index++) {
        const name = `tenant-${tenant}/${index}`;
        const metadata = { tenant: `tenant-${tenant}` };
        const options = { name, urls: ['https://receiver.example/hook'], sources: ['shop'], metadata };
        const document = JSON.stringify({ options, createdAt: 1, updatedAt: 1, followsTenant: true, layout: 1 });
        await queue.registry.write({ kind: 'destination', name, document }, 0);
      }
    }
    const { as, tokenOf, relay } = await startPortal(afterwards, createAdapter(), { options: { queue: () => queue } });
    await relay.sources.create({ name: 'source-5000', metadata: { tenant: 'tenant-5000' } });
    const tenant = as(await tokenOf('tenant-5000'));
    const times: Record<string, number[]> = {};
    const timed = async (what: string, work: () => Promise<unknown>) => {
      const startedAt = performance.now();
      await work();
      (times[what] ??= []).push(performance.now() - startedAt);
    };
    const { endpoints } = await tenant('GET', 'endpoints');
    expect(endpoints).toHaveLength(ENDPOINTS);
    const id = endpoints[0]!.id as string;
    for (let i = 0; i < 9; i++) {
      await timed('endpoints', () => tenant('GET', 'endpoints'));
      await timed('endpoint', () => tenant('GET', `endpoints/${id}`));
      await timed('deliveries', () => tenant('GET', `endpoints/${id}/deliveries`));
      await timed('change', () => tenant('PATCH', `endpoints/${id}`, { description: String(i) }));
    }
    const medians = Object.entries(times).map(([what, all]) => [what, all.sort((a, b) => a - b)[4]!] as const);
    if (process.env.PORTAL_TIMES) console.log(Object.fromEntries(medians));
    for (const [what, median] of medians) expect([what, median < LONGEST]).toEqual([what, true]);
    // What it costs to know more sources of one tenant does not grow with the others.
    expect((await relay.destinations.get('tenant-5000/0'))!.sources).toEqual(['source-5000']);
    expect((await relay.destinations.get('tenant-5001/0'))!.sources).toEqual([]);
  });
});
