import { describe, expect, it, vi } from 'vitest';

import { loadPackage } from './package-under-test.js';
import { shrink } from './shrink.js';
import { simulate } from './simulate.js';
import { simulateClient } from './simulate-client.js';
import { withSimulatedTime } from './simulated-time.js';

/** Runs for so long, instead of so many scenarios. */
const MINUTES = Number(process.env.SIMULATION_MINUTES ?? 0);
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? 500);
/** Beside other tests, scenarios take several times as long as alone. */
if (MINUTES === 0) vi.setConfig({ testTimeout: 300_000 });
const FIRST = Number(process.env.SIMULATION_SEED ?? (MINUTES > 0 ? Date.now() % 1e9 : 1));

/** Not the simulated clock. */
const { uptime } = process;

/** Seeds in their order. */
function* seeds(share: number): Generator<number> {
  const end = uptime() + MINUTES * share * 60;
  for (let seed = FIRST; MINUTES > 0 ? uptime() < end : seed < FIRST + SEEDS; seed++) yield seed;
}

const days = (ms: number) => (ms / 86_400_000).toFixed(1);

describe('In simulated scenarios of failing processes, stores, clocks and receivers', () => {
  it('the relay keeps its guarantees', async () => {
    const code = await loadPackage();
    const totals = { scenarios: 0, steps: 0, time: 0, deliveries: 0, requests: 0 };
    const story = await withSimulatedTime(async (use) => {
      for (const seed of seeds(0.8)) {
        const { violations, steps, time, counts } = await simulate(code, use, seed);
        totals.scenarios++;
        totals.steps += steps;
        totals.time += time;
        totals.deliveries += counts.deliveries;
        totals.requests += counts.requests;
        if (violations.length > 0) return shrink(code, use, seed);
      }
      return [];
    });
    const { scenarios, steps, time, deliveries, requests } = totals;
    process.stdout.write(
      `${scenarios} scenarios, ${days(time)} days, ${steps} steps, ${deliveries} deliveries, ${requests} requests\n`,
    );
    expect(story).toEqual([]);
  });

  it('each event of a client has one outcome', async () => {
    const code = await loadPackage();
    const story = await withSimulatedTime(async (use) => {
      for (const seed of seeds(0.2)) {
        const result = await simulateClient(code, use, seed);
        if (result.violations.length > 0) return [`seed ${seed}`, ...result.story];
      }
      return [];
    });
    expect(story).toEqual([]);
  });
});
