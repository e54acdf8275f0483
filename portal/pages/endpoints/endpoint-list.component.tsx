import { useAnswer } from '../../../dashboard/api/answer.hook.js';
import { EmptyState } from '../../../dashboard/components/empty-state.component.js';
import { PageHeading } from '../../../dashboard/components/page-heading.component.js';
import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { goTo, hrefOf } from '../../../dashboard/shell/hash.router.js';
import type { Endpoint } from '../../api/portal.answers.js';
import { get } from '../../api/portal.client.js';
import { EndpointBadge } from '../../components/badge.component.js';
import { Button } from '../../components/button.component.js';
import { Problem } from '../../components/problem.component.js';
import { toMinute } from '../../components/time.component.js';
import { session } from '../../shell/session.state.js';
import { words } from '../../words/words.js';
import { EventNames } from './event-names.component.js';

/** Time between two readings of the list, in ms. */
const EVERY = 10_000;

/** The customer's endpoints. */
export function EndpointList() {
  const load = (signal: AbortSignal) => get<{ endpoints: Endpoint[] }>('endpoints', { signal });
  const { answer, error, reload } = useAnswer(load, '', EVERY);
  const endpoints = answer?.endpoints;
  return (
    <>
      <PageHeading title={words.endpoints.title}>
        {endpoints && endpoints.length > 0 && <AddButton count={endpoints.length} />}
      </PageHeading>
      <p class="lead">{words.endpoints.lead}</p>
      <Problem error={error} onRetry={reload} />
      {!answer && !error && <p role="status">{words.shell.loading}</p>}
      {endpoints?.length === 0 && (
        <EmptyState title={words.endpoints.emptyTitle}>
          <p>{words.endpoints.empty}</p>
          <AddButton count={0} />
        </EmptyState>
      )}
      {endpoints && endpoints.length > 0 && (
        <ul class="rows" aria-label={words.endpoints.list}>
          {endpoints.map((endpoint) => (
            <Row key={endpoint.id} endpoint={endpoint} />
          ))}
        </ul>
      )}
    </>
  );
}

function AddButton({ count }: { count: number }) {
  const limit = session.value!.limits.endpoints;
  return (
    <Button
      changes
      look="primary"
      disabledReason={count >= limit ? words.endpoints.full(limit) : undefined}
      onClick={() => goTo(hrefOf('endpoints', {}, 'new'))}
    >
      {words.endpoints.add}
    </Button>
  );
}

function Row({ endpoint: { id, url, description, events, state, failingSince, disabled } }: { endpoint: Endpoint }) {
  const since = state === 'failing' ? failingSince : state === 'disabled' ? disabled?.since : undefined;
  return (
    <li class="row">
      <div class="row-text">
        <PlainText value={url} max={200} href={hrefOf('endpoints', {}, id)} />
        {description !== undefined && description !== '' && (
          <div>
            <PlainText value={description} max={200} />
          </div>
        )}
        <div class="second-line">
          <EventNames events={events} />
        </div>
      </div>
      <div class="row-state">
        <EndpointBadge state={state} />
        {since !== undefined && <div class="second-line">{words.since(toMinute(since))}</div>}
      </div>
    </li>
  );
}
