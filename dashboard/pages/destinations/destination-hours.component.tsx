import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Problem } from '../../components/problem.component.js';
import { HOUR, toSpans } from '../../components/span.util.js';
import { Table } from '../../components/table.component.js';
import { Duration, Time } from '../../components/time.component.js';
import { addPoint } from '../overview/series.util.js';
import type { SeriesPoint } from '../../../lib/webhook-destination/observe/relay-series.js';

const EVERY = 15_000;

const COUNTS = [
  ['routed', 'Routed'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed attempts'],
  ['dead', 'Dead'],
] as const;

/** The last day of a destination, by the hour. */
export function DestinationHours({ name }: { name: string }) {
  const { answer, error, reload } = useAnswer(
    (signal, isPoll) => get<{ points: SeriesPoint[] }>('timeseries', { query: { destination: name }, signal, isPoll }),
    name,
    EVERY,
  );
  const hours = toSpans(answer?.points ?? [], HOUR, addPoint);
  return (
    <section class="panel">
      <h2>Last day, by the hour</h2>
      <Problem error={error} onRetry={reload} />
      {answer && hours.length === 0 && <p class="muted">Nothing was routed or sent to it.</p>}
      {hours.length > 0 && (
        <Table
          caption="Last day, by the hour"
          rows={hours}
          keyOf={({ at }) => String(at)}
          columns={[
            { title: 'From', cell: ({ at }) => <Time at={at} look="hour" /> },
            ...COUNTS.map(([field, title]) => ({
              title,
              isNumber: true,
              cell: (hour: SeriesPoint) => hour[field].toLocaleString(),
            })),
            { title: 'p95, highest', isNumber: true, cell: ({ p95 }) => <Duration ms={p95} /> },
          ]}
        />
      )}
    </section>
  );
}
