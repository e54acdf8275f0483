import './overview.css';
import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { Problem } from '../../components/problem.component.js';
import type { Route } from '../../shell/hash.router.js';
import { CountsTable } from './counts-table.component.js';
import { DownDestinations } from './down-destinations.component.js';
import { Figures } from './figures.component.js';
import type { Overview } from './overview.answer.js';
import { Series } from './series.component.js';

/** Time between two readings of the figures, in ms. */
const EVERY = 5_000;

/** Current state of the relay, and its figures for the last hour or day. */
export function OverviewPage({ route }: { route: Route }) {
  const { answer, error, reload } = useAnswer(
    (signal, isPoll) => get<Overview>('overview', { signal, isPoll }),
    'overview',
    EVERY,
  );
  return (
    <>
      <PageHeading title="Overview" />
      <Problem error={error} onRetry={reload} />
      {answer && <Answer overview={answer} query={route.query} />}
    </>
  );
}

function Answer({ overview, query }: { overview: Overview; query: URLSearchParams }) {
  const { destinations } = overview;
  return (
    <>
      <DownDestinations {...overview} />
      <Figures overview={overview} />
      {Object.keys(overview.counts).length === 0 ? (
        <EmptyState title="The queue has no deliveries.">
          <p>They appear here once a source sends a message that a destination gets.</p>
        </EmptyState>
      ) : (
        <CountsTable {...overview} />
      )}
      <Series now={overview.at} query={query} destinations={destinations.map(({ destination }) => destination)} />
    </>
  );
}
