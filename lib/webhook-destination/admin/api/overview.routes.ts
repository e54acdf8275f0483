import { takeUntil } from 'rxjs';

import type { Metric } from '../../../common/telemetry/metric.js';
import { acceptsGzip, compress } from '../../http/gzip.util.js';
import { RequestError } from '../../http/request.error.js';
import { summarize } from '../../observe/destination-counts.js';
import { PROMETHEUS_TYPE, toPrometheusText } from '../../observe/prometheus.text.js';
import { firstAcceptedAt } from '../../observe/queue.figures.js';
import { COUNTERS, type RelaySeries, sumOf } from '../../observe/relay-series.js';
import { SERIES_TIME, startOf } from '../../observe/series.writer.js';
import type { DestinationEntry } from '../../registry/registry-entry.interface.js';
import { LIVE_FILTERS, LIVE_KINDS, type LiveFilter } from '../live/live.event.js';
import type { LiveFeed } from '../live/live.feed.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { type ApiRoute, readRoute } from './api.route.js';

/** Period of the overview's rates, in ms. */
const RECENT = 5 * 60_000;

/** Number of destinations in the overview, which dashboards read every few seconds. */
const MAX_DESTINATIONS = 25;

const METRICS = [...COUNTERS, 'p50', 'p95'] as const;

const SERIES_FIELDS = {
  metric: `one of ${METRICS.join(', ')}; default: all`,
  destination: 'name of the destination; default: all together',
  from: 'ms since the epoch, or ISO 8601; default: a day ago',
  to: 'ms since the epoch, or ISO 8601; default: now',
};

/** Routes of the relay's current state, and of its figures for the last day. */
export function overviewRoutes(relay: AdminRelay, own: AdminProcess, series: RelaySeries): ApiRoute[] {
  return [
    readRoute(
      'overview',
      'Counts, rates and latencies of the last minutes, and the destinations that most need attention',
      async ({ caller }) => {
        const now = Date.now();
        const from = startOf(now - RECENT, 60_000);
        const [counts, oldest, points] = await Promise.all([
          own.figures.counts(),
          firstAcceptedAt(own.figures),
          series.read(from, now),
        ]);
        const summary = summarize(counts, own.dispatcher.downNames, MAX_DESTINATIONS);
        const destinations = await Promise.all(
          summary.destinations.map(async (row) => ({
            ...row,
            entry: statusOf(await relay.destinations.get(row.destination)),
          })),
        );
        const { queued = 0, delivering = 0, waiting = 0 } = summary.counts;
        return {
          at: now,
          access: caller.access,
          ...summary,
          destinations,
          open: queued + delivering + waiting,
          oldestAcceptedAt: oldest ?? null,
          recent: { minutes: RECENT / 60_000, from, ...sumOf(points, COUNTERS), latest: points.at(-1) ?? null },
          process: { lostBeforeIngest: relay.lostCount, uptime: Math.round(process.uptime()) },
        };
      },
    ),
    readRoute(
      'timeseries',
      'One point per minute for the last day; minutes in which nothing happened have no point',
      async ({ query, counted }) => {
        const now = Date.now();
        const from = query.time('from') ?? now - SERIES_TIME;
        const to = query.time('to') ?? now;
        if (from > to) throw new RequestError('query_invalid', 'from must not be after to', 'from');
        const metric = query.oneOf('metric', METRICS);
        const destination = query.text('destination');
        const points = await own.queue.searches.inTurn(() => series.read(from, to, destination), counted);
        const shown = metric ? points.map((point) => ({ at: point.at, [metric]: point[metric] })) : points;
        return { from, to, interval: 60_000, points: shown };
      },
      SERIES_FIELDS,
    ),
  ];
}

/** Returns what decides whether a destination is sent deliveries; undefined if it was removed. */
function statusOf(entry: DestinationEntry | undefined) {
  return entry && { enabled: entry.enabled, paused: entry.paused, disabled: entry.disabled, fault: entry.fault };
}

/** Route of the metrics, in the text format of Prometheus. */
export function metricsRoute(metrics: readonly Metric[]): ApiRoute {
  const summary = 'Figures of recording, ingest and delivery, as Prometheus text';
  return readRoute('metrics', summary, async ({ request, response }) => {
    const text = await toPrometheusText(metrics);
    const isCompressed = acceptsGzip(request);
    const body = isCompressed ? await compress(text) : Buffer.from(text);
    const headers = {
      'Content-Type': PROMETHEUS_TYPE,
      'Content-Length': body.length,
      Vary: 'Accept-Encoding',
      ...(isCompressed && { 'Content-Encoding': 'gzip' }),
    };
    response.writeHead(200, headers).end(body);
    return undefined;
  });
}

/** Route of the live events, as server-sent events. */
export function eventRoute(feed: LiveFeed): ApiRoute {
  return readRoute(
    'events',
    'Messages and outcomes as they happen, as server-sent events; of all processes that share the queue',
    ({ counted, query, response, refused$ }) => {
      query.oneOf('kind', LIVE_KINDS);
      const given = LIVE_FILTERS.map((name) => [name, query.text(name)]).filter(([, value]) => value !== undefined);
      const stream = feed.stream(response, Object.fromEntries(given) as LiveFilter, counted);
      if (!stream) return undefined;
      refused$.pipe(takeUntil(stream.closed)).subscribe(() => stream.end());
      return undefined;
    },
    Object.fromEntries(LIVE_FILTERS.map((name) => [name, `${name} of the event`])),
  );
}
