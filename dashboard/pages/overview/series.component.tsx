import { useMemo } from 'preact/hooks';

import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Chart, type ChartLine } from '../../components/chart.component.js';
import { SelectField } from '../../components/field.component.js';
import { Problem } from '../../components/problem.component.js';
import { HOUR, toSpans } from '../../components/span.util.js';
import { type Column, Table } from '../../components/table.component.js';
import { Duration, Time, toDuration } from '../../components/time.component.js';
import { replaceQuery } from '../../shell/hash.router.js';
import type { SeriesPoint } from '../../../lib/webhook-destination/observe/relay-series.js';
import type { Timeseries } from './overview.answer.js';
import { DestinationField } from './destination-field.component.js';
import { addPoint, type Metric, toChartData } from './series.util.js';

/** Time between two readings of the series, in ms. The relay writes it every 10 s. */
const EVERY = 15_000;

const PERIODS = [
  ['hour', 'Last hour'],
  ['day', 'Last day'],
] as const;

const COUNTS: (ChartLine & { metric: Metric })[] = [
  { metric: 'accepted', label: 'Accepted', colour: '--muted', dash: [6, 4] },
  { metric: 'delivered', label: 'Delivered', colour: '--good' },
  { metric: 'failed', label: 'Failed attempts', colour: '--warn', dash: [3, 3] },
  { metric: 'dead', label: 'Dead', colour: '--bad' },
  { metric: 'duplicate', label: 'Repeated', colour: '--text', dash: [1, 3] },
  { metric: 'rejected', label: 'Refused', colour: '--accent', dash: [8, 3, 2, 3] },
];

const LATENCIES: (ChartLine & { metric: Metric })[] = [
  { metric: 'p50', label: 'p50', colour: '--good', hasGaps: true },
  { metric: 'p95', label: 'p95', colour: '--warn', dash: [6, 4], hasGaps: true },
];

export interface SeriesProps {
  /** Time of the relay, in ms since the epoch: the clock of the browser may be wrong. */
  now: number;
  query: URLSearchParams;
  /** Destinations that are suggested first. */
  destinations: string[];
}

/** The last hour or day: charts by the minute, and tables of longer spans. */
export function Series({ now, query, destinations }: SeriesProps) {
  const destination = query.get('destination') ?? '';
  const period = query.get('period') === 'day' ? 'day' : 'hour';
  const length = period === 'day' ? 24 * HOUR : HOUR;
  const load = (signal: AbortSignal, isPoll: boolean) =>
    get<Timeseries>('timeseries', { query: { destination, from: now - length }, signal, isPoll });
  const { answer, error, reload } = useAnswer(load, `${period} ${destination}`, EVERY);
  const choose = (change: object) => replaceQuery({ destination, period, ...change });
  return (
    <section class="panel">
      <div class="panel-heading spread">
        <h2>Over time</h2>
        <div class="filters">
          <SelectField label="Period" value={period} options={PERIODS} onValue={(value) => choose({ period: value })} />
          <DestinationField
            value={destination}
            suggested={destinations}
            onValue={(value) => choose({ destination: value })}
          />
        </div>
      </div>
      <Problem error={error} onRetry={reload} />
      {answer && <Charts key={`${period} ${destination}`} answer={answer} length={length / 12} />}
    </section>
  );
}

/** @param length length of the spans in the tables, in ms */
function Charts({ answer, length }: { answer: Timeseries; length: number }) {
  const counts = useMemo(() => toChartData(answer, metricsOf(COUNTS)), [answer]);
  const latencies = useMemo(() => toChartData(answer, metricsOf(LATENCIES)), [answer]);
  const spans = useMemo(() => toSpans(answer.points, length, addPoint), [answer, length]);
  const span = useMemo(() => spanColumn(length), [length]);
  if (spans.length === 0) return <p class="muted">Nothing was received or sent in this time.</p>;
  return (
    <>
      <h3>Messages and deliveries</h3>
      <div class="chart-and-table">
        <Chart title="messages and deliveries by the minute" lines={COUNTS} toText={toCountText} data={counts} />
        <Table
          caption="Messages and deliveries by time"
          rows={spans}
          keyOf={({ at }) => String(at)}
          columns={[span, ...COUNTS.map(({ metric, label }) => countColumn(metric, label))]}
        />
      </div>
      <h3>Duration of attempts</h3>
      <div class="chart-and-table">
        <Chart title="duration of attempts by the minute" lines={LATENCIES} toText={toDuration} data={latencies} />
        <Table
          caption="Duration of attempts by time, in the slowest minute"
          rows={spans}
          keyOf={({ at }) => String(at)}
          columns={[span, ...LATENCIES.map(({ metric, label }) => latencyColumn(metric, label))]}
        />
      </div>
    </>
  );
}

const toCountText = (count: number) => count.toLocaleString();

const metricsOf = (lines: { metric: Metric }[]) => lines.map(({ metric }) => metric);

/** @param length in ms; spans of hours reach back to another day */
function spanColumn(length: number): Column<SeriesPoint> {
  return {
    title: `From, ${toDuration(length)} each`,
    cell: ({ at }) => <Time at={at} look={length < HOUR ? 'minute' : 'hour'} />,
  };
}

function countColumn(metric: Metric, title: string): Column<SeriesPoint> {
  return { title, isNumber: true, cell: ({ [metric]: count }) => (count ?? 0).toLocaleString() };
}

function latencyColumn(metric: Metric, label: string): Column<SeriesPoint> {
  return { title: `${label}, highest`, isNumber: true, cell: ({ [metric]: ms }) => <Duration ms={ms} /> };
}
