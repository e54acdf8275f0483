import { readFileSync } from 'node:fs';

import { ExpressAdapter } from '@nestjs/platform-express';
import { AnalyticsModule, AnalyticsService, memoryQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { post } from '../support/post.js';
import { type PrometheusFamily, readMetrics, sumOf } from '../support/prometheus.js';
import { startRelayApp } from '../support/relay.app.js';
import { waitFor } from '../support/wait-for.js';

/** A name of a metric in a query, and what is in the braces behind it. */
const SELECTOR = /\b((?:analytics_relay|messaging|http_client)_\w+)(?:\{([^}]*)\})?/g;

/** What a query groups by. */
const GROUPING = /\b(?:by|on) \(([^)]*)\)/g;

interface Dashboard {
  panels: { targets: { expr: string }[] }[];
}

const dashboard = JSON.parse(readFileSync('docs/grafana-dashboard.json', 'utf8')) as Dashboard;
const rules = readFileSync('docs/alert-rules.yml', 'utf8').split('- alert:').slice(1);
const queries = [...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)), ...rules];

/** Labels that Prometheus adds. */
const ADDED = ['instance'];

const hasAge = (families: PrometheusFamily[]) =>
  families.some(({ name, metrics }) => name === 'analytics_relay_delivery_oldest_age_seconds' && metrics.length > 0);

describe('The dashboard and the alert rules', () => {
  const afterwards = useCleanUps();

  /** The metrics of an application in which all has happened that is counted. */
  async function scrape(): Promise<PrometheusFamily[]> {
    const { app, host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
      options: {
        queue: memoryQueue(),
        admin: { token: 'secret' },
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000 },
      },
      metadata: { imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', maxQueueSize: 1 })] },
    });
    for (let index = 0; index < 3; index++) app.get(AnalyticsService).track({ userId: 'u1', event: 'Ordered' });
    let families: PrometheusFamily[] = [];
    const attempted = (outcome: string) =>
      waitFor(async () => {
        families = await readMetrics(host, 'secret');
        return sumOf(families, 'analytics_relay_delivery_attempts_total', { outcome }) === 1;
      });
    await attempted('delivered');
    await receiver.stop();
    await post(`${host}/v1/batch`, { batch: [{ type: 'none' }, { type: 'track', userId: 'u1', event: 'Ordered' }] });
    await attempted('waiting');
    // Figures of the queue are shared for a while.
    await waitFor(async () => {
      families = await readMetrics(host, 'secret');
      return sumOf(families, 'analytics_relay_delivery_count', { state: 'waiting' }) === 1 && hasAge(families);
    });
    return families;
  }

  it('name metrics and labels that a scrape has', async () => {
    const families = await scrape();
    // The parser gives each series of a histogram a family of its own.
    const labelsOf = new Map<string, Set<string>>();
    for (const { name, metrics } of families) {
      const labels = metrics.flatMap((metric) => Object.keys(metric.labels ?? {}));
      labelsOf.set(name, new Set([...(labelsOf.get(name) ?? []), ...labels]));
    }
    const known = [...labelsOf.keys()];
    expect(queries.length).toBeGreaterThan(15);
    for (const query of queries) {
      const selectors = [...query.replace(GROUPING, '').matchAll(SELECTOR)];
      expect(selectors.length).toBeGreaterThan(0);
      const used = selectors.map(([, name]) => name!);
      expect(known).toEqual(expect.arrayContaining(used));
      for (const [, name, braces = ''] of selectors) {
        const labels = [...braces.matchAll(/(\w+)(?:=~|!~|!=|=)"[^"]/g)].map(([, label]) => label!);
        expect([...labelsOf.get(name!)!]).toEqual(expect.arrayContaining(labels));
      }
      const grouped = [...query.matchAll(GROUPING)].flatMap(([, labels]) => labels!.split(', '));
      const all = new Set([...ADDED, ...used.flatMap((name) => [...labelsOf.get(name)!])]);
      expect([...all]).toEqual(expect.arrayContaining(grouped));
    }
  });

  it('are on the page as they are in the file', () => {
    const page = readFileSync('docs/observability.md', 'utf8');
    for (const rule of rules) {
      const [, name] = /^ (\w+)/.exec(rule)!;
      const [, expression] = /expr: (?:\|\n)?([^]*?)\n +(?:for|labels):/.exec(rule)!;
      const lines = expression!.split('\n').map((line) => line.trim());
      const [, duration] = /for: (\w+)/.exec(rule) ?? [];
      expect(page).toContain(`# ${name}${duration ? `, for ${duration}` : ''}\n${lines.join('\n')}\n`);
    }
  });

  it('leave no metric out, and neither does the page', async () => {
    const page = readFileSync('docs/observability.md', 'utf8');
    const names = (await scrape()).map(({ name }) => name.replace(/_seconds_(bucket|sum|count)$/, '_seconds'));
    const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join(' ');
    for (const name of new Set(names)) {
      expect(page.replaceAll('.', '_')).toContain(name.replace(/(_seconds)?(_total)?$/, ''));
      if (name !== 'messaging_client_consumed_messages_total') expect(shown).toContain(name);
    }
  });
});
