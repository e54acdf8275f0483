import './overview.css';
import type { Attention } from '../../../lib/webhook-destination/admin/api/attention.routes.js';
import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Answered } from '../../components/answered.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { Problem } from '../../components/problem.component.js';
import { hrefOf, type Route } from '../../shell/hash.router.js';
import { AttentionList } from './attention.component.js';
import { CountsTable } from './counts-table.component.js';
import { Funnel } from './funnel.component.js';
import { Headline } from './headline.component.js';
import type { Overview } from './overview.answer.js';
import { Series } from './series.component.js';

/** Time between two readings of the figures, in ms. */
const EVERY = 5_000;

/** Time between two readings of what needs attention, in ms. */
const ATTENTION_EVERY = 10_000;

/** Current state of the relay, and its figures for the last hour or day. */
export function OverviewPage({ route }: { route: Route }) {
  const overview = useAnswer((signal, isPoll) => get<Overview>('overview', { signal, isPoll }), 'overview', EVERY);
  const attention = useAnswer(
    (signal, isPoll) => get<Attention>('attention', { signal, isPoll }),
    'attention',
    ATTENTION_EVERY,
  );
  return (
    <>
      <PageHeading title="Overview" />
      <Problem
        error={overview.error ?? attention.error}
        onRetry={overview.error ? overview.reload : attention.reload}
      />
      {overview.answer && (
        <Answered from={overview.error ? overview : attention}>
          <Answer overview={overview.answer} attention={attention.answer} query={route.query} />
        </Answered>
      )}
    </>
  );
}

interface AnswerProps {
  overview: Overview;
  attention: Attention | undefined;
  query: URLSearchParams;
}

function Answer({ overview, attention, query }: AnswerProps) {
  const { destinations } = overview;
  const isEmpty = Object.keys(overview.counts).length === 0;
  return (
    <>
      {attention && !isEmpty && <Headline overview={overview} attention={attention} />}
      {attention && <AttentionList attention={attention} />}
      <Funnel overview={overview} />
      {isEmpty ? (
        <EmptyState title="The queue has no deliveries.">
          <p>
            Send a message with the write key of a <a href={hrefOf('sources')}>source</a>. If one was sent,{' '}
            <a href={hrefOf('explain')}>Explain</a> says which destinations get it.
          </p>
        </EmptyState>
      ) : (
        <CountsTable {...overview} attention={attention} />
      )}
      <Series now={overview.at} query={query} destinations={destinations.map(({ destination }) => destination)} />
    </>
  );
}
