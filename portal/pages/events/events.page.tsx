import { useAnswer } from '../../../dashboard/api/answer.hook.js';
import { EmptyState } from '../../../dashboard/components/empty-state.component.js';
import { PageHeading } from '../../../dashboard/components/page-heading.component.js';
import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { hrefOf, type Route } from '../../../dashboard/shell/hash.router.js';
import type { CatalogueEvent } from '../../api/portal.answers.js';
import { Problem } from '../../components/problem.component.js';
import { words } from '../../words/words.js';
import { Documents } from './documents.component.js';
import { EventView } from './event-view.component.js';
import { getEvents } from './events.answer.js';

/** The catalogue, or one event of it: `#/events/<name>`. */
export default function EventsPage({ route: { rest } }: { route: Route }) {
  const [name] = rest;
  const { answer, error, reload } = useAnswer(getEvents, '');
  if (name) return <EventView name={name} events={answer?.events} error={error} onRetry={reload} />;
  return (
    <>
      <PageHeading title={words.events.title} />
      <p class="lead">{words.events.lead}</p>
      <Problem error={error} onRetry={reload} />
      {!answer && !error && <p role="status">{words.shell.loading}</p>}
      {answer && (answer.events.length === 0 ? <NoEvents /> : <EventList events={answer.events} />)}
    </>
  );
}

function NoEvents() {
  return (
    <EmptyState title={words.events.emptyTitle}>
      <p>{words.events.empty}</p>
    </EmptyState>
  );
}

function EventList({ events }: { events: CatalogueEvent[] }) {
  return (
    <>
      <ul class="rows" aria-label={words.events.list}>
        {events.map(({ name, description }) => (
          <li key={name} class="row">
            <div class="row-text">
              <PlainText value={name} max={120} href={hrefOf('events', {}, name)} />
              {description !== undefined && (
                <div class="second-line">
                  <PlainText value={description} max={300} />
                </div>
              )}
            </div>
          </li>
        ))}
      </ul>
      <Documents />
    </>
  );
}
