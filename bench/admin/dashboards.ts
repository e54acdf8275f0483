// What open dashboards cost a relay under load: npm run bench:dashboards
// Windows with and without them take turns; each is compared with the mean of those beside it.
import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'undici';

import { Child } from '../support/child.js';
import { BATCH, trackMessage, WRITE_KEY } from '../support/messages.js';
import { option } from '../support/option.js';
import { median, printGoals, printTable } from '../support/table.js';

const TOKEN = 'bench-token';

const DASHBOARDS = 3;

/** Length of a window, in ms: in it, each question of the overview is asked at least once. */
const WINDOW = 15_000;

/** Time before each window, in which streams open and close, in ms. */
const SETTLE = 1_000;

/** How often the overview asks for the figures and for the series, in ms. */
const FIGURES_EVERY = 5_000;
const SERIES_EVERY = 15_000;

/** Largest share of the process's CPU, beside that without dashboards. */
const GOAL = 1.03;

/** Opens what a page has open; resolves with what closes it. */
type Page = (host: string) => () => void;

const headers = { Authorization: `Bearer ${TOKEN}` };

/** A page as its code asks: the requests of `dashboard/pages`. */
const pages: Record<'overview' | 'live', Page> = {
  overview(host) {
    const ask = (target: string) =>
      void fetch(`${host}/relay/api/${target}`, { headers }).then((response) => response.text());
    const figures = () => ask('overview');
    const series = () => ask(`timeseries?from=${Date.now() - 3_600_000}`);
    figures();
    series();
    const timers = [setInterval(figures, FIGURES_EVERY), setInterval(series, SERIES_EVERY)];
    return () => timers.forEach(clearInterval);
  },
  live(host) {
    const control = new AbortController();
    const read = async () => {
      const { body } = await fetch(`${host}/relay/api/events`, { headers, signal: control.signal });
      for await (const chunk of body!) void chunk;
    };
    read().catch(() => undefined);
    return () => control.abort();
  },
};

async function measure(): Promise<void> {
  const rate = Number(option('rate') ?? 2_000);
  const rounds = Number(option('rounds') ?? 6);
  const [receiver, { url }] = await Child.start<{ url: string }>('../support/receiver');
  const [relay, { url: host }] = await Child.start<{ url: string }>('../admin/watched.process', url, TOKEN);
  const load = startLoad(host, rate);

  /** CPU of a window, in ms a second. */
  const window = async (page: Page | undefined) => {
    const close = Array.from({ length: page ? DASHBOARDS : 0 }, () => page!(host));
    await sleep(SETTLE);
    const [cpu, at] = [await relay.ask<number>('cpu'), performance.now()];
    await sleep(WINDOW);
    const used = (await relay.ask<number>('cpu')) - cpu;
    const seconds = (performance.now() - at) / 1_000;
    for (const end of close) end();
    return used / seconds;
  };

  await window(undefined); // warms up
  const rows: string[][] = [];
  const goals = [];
  for (const [name, page] of Object.entries(pages)) {
    const [closed, ratios]: number[][] = [[await window(undefined)], []];
    for (let round = 0; round < rounds; round++) {
      const open = await window(page);
      closed!.push(await window(undefined));
      const [before, after] = closed!.slice(-2) as [number, number];
      ratios!.push(open / ((before + after) / 2));
    }
    const ratio = median(ratios!);
    const spread = [Math.min(...ratios!), Math.max(...ratios!)].map((value) => value.toFixed(3)).join(' to ');
    rows.push([name, median(closed!).toFixed(0), ratio.toFixed(3), spread]);
    goals.push({ figure: `${DASHBOARDS} times "${name}" open, CPU beside none`, value: ratio, atMost: GOAL });
  }
  const sent = await load.stop();
  printTable(
    'dashboards',
    `${rate} events/s wanted, ${sent.toFixed(0)} sent, through HTTP, SQLite and signed webhooks`,
    ['page', 'CPU without, ms a second', 'CPU with / without', 'rounds'],
    rows,
  );
  printGoals(goals);
  await relay.stop();
  await receiver.stop();
}

/** Posts batches at an even pace; `stop` returns how many messages a second were accepted. */
function startLoad(host: string, rate: number) {
  const pool = new Pool(host, { connections: 8 });
  const authorization = `Basic ${btoa(`${WRITE_KEY}:`)}`;
  const began = performance.now();
  let posted = 0;
  let accepted = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1_000) * rate;
    while (posted + BATCH <= due) {
      const batch = Array.from({ length: BATCH }, () => trackMessage(`m${posted++}`));
      const body = JSON.stringify({ batch });
      void pool
        .request({
          path: '/v1/batch',
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body,
        })
        .then(async (response) => {
          await response.body.dump();
          if (response.statusCode === 200) accepted += BATCH;
        });
    }
  }, 5);
  return {
    async stop() {
      clearInterval(timer);
      await pool.close();
      return accepted / ((performance.now() - began) / 1_000);
    },
  };
}

await measure();
