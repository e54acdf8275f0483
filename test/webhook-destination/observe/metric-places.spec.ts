import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Metric } from '../../../lib/common/telemetry/metric.js';
import { toPrometheusText } from '../../../lib/webhook-destination/observe/prometheus.text.js';
import { RelayMetrics } from '../../../lib/webhook-destination/observe/relay-metrics.js';
import { parseMetrics, sumOf } from '../../support/prometheus.js';

const RANKING = 5 * 60_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function start(size: number) {
  const none = () => Promise.resolve([]);
  const figures = {
    now: Date.now,
    counts: none,
    oldest: none,
    keptSince: none,
    isActive: () => true,
    circuits: () => [],
  };
  const metrics = new RelayMetrics(figures, size, undefined);
  const queue = (destination: string, count: number) =>
    metrics.enqueue(Array(count).fill({ destination }), () => Promise.resolve([]));
  const attempt = (destination: string) => metrics.attempt({ destination, acceptedAt: 0 } as never);
  /** Messages queued, by the name of the series. */
  const read = async (all: readonly Metric[] = metrics.all) => {
    await toPrometheusText(all); // ranks, if it is time
    const families = parseMetrics(await toPrometheusText(all));
    const of = (name: string, label: string) =>
      Object.fromEntries(
        families
          .filter((family) => family.name === name)
          .flatMap(({ metrics }) => metrics.map(({ labels, value }) => [labels![label], Number(value)])),
      ) as Record<string, number>;
    return {
      queued: of('messaging_client_sent_messages_total', 'messaging_destination_name'),
      dead: of('analytics_relay_delivery_dead_total', 'destination'),
      attempts: sumOf(families, 'analytics_relay_delivery_attempts_total'),
      started: sumOf(families, 'messaging_client_consumed_messages_total'),
    };
  };
  return { queue, attempt, read };
}

it('Destinations with the most messages have series of their own, the others share one, and no counter goes back', async () => {
  const { queue, read } = start(2);
  await queue('first', 10);
  await queue('second', 10);
  await queue('busy', 100);
  expect((await read()).queued).toEqual({ first: 10, second: 10, _other: 100 });
  await queue('first', 15);
  vi.advanceTimersByTime(RANKING);
  expect((await read()).queued).toEqual({ first: 25, _other: 100 });
  await queue('busy', 5);
  await queue('second', 1);
  expect((await read()).queued).toEqual({ first: 25, busy: 5, _other: 101 });
  expect(Object.keys((await read()).dead).sort()).toEqual(['_other', 'busy', 'first']);
});

it('A destination keeps its series unless another has more than twice its messages', async () => {
  const { queue, read } = start(1);
  await queue('first', 10);
  await queue('second', 20);
  vi.advanceTimersByTime(RANKING);
  expect((await read()).queued).toEqual({ first: 10, _other: 20 });
});

it('An attempt that ends after its destination has lost its series counts with the others', async () => {
  const { queue, attempt, read } = start(1);
  const begun = attempt('first');
  await queue('busy', 100);
  vi.advanceTimersByTime(RANKING);
  await read();
  begun.end('delivered');
  attempt('busy').end('delivered');
  expect(await read()).toMatchObject({ attempts: 2, dead: { _other: 0, busy: 0 } });
});
