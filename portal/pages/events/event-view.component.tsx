import type { ApiError } from '../../../dashboard/api/api.error.js';
import { PageHeading } from '../../../dashboard/components/page-heading.component.js';
import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { toPlainText } from '../../../dashboard/components/plain-text.util.js';
import { hrefOf } from '../../../dashboard/shell/hash.router.js';
import type { CatalogueEvent } from '../../api/portal.answers.js';
import { Breadcrumb } from '../../components/breadcrumb.component.js';
import { CodeView } from '../../components/code-view.component.js';
import { Problem } from '../../components/problem.component.js';
import { words } from '../../words/words.js';
import { SchemaFields } from './schema-fields.component.js';

export interface EventViewProps {
  name: string;
  /** The catalogue; undefined while it is loading. */
  events: CatalogueEvent[] | undefined;
  error: ApiError | undefined;
  onRetry: () => void;
}

/** An event: what it means, its fields and an example. */
export function EventView({ name, events, error, onRetry }: EventViewProps) {
  const event = events?.find((candidate) => candidate.name === name);
  return (
    <>
      <Breadcrumb href={hrefOf('events')}>{words.events.breadcrumb}</Breadcrumb>
      <PageHeading title={toPlainText(name, 200)} />
      <Problem error={error} onRetry={onRetry} />
      {!events && !error && <p role="status">{words.shell.loading}</p>}
      {events && !event && <p class="muted">{words.events.unknown}</p>}
      {event?.description !== undefined && (
        <p class="lead">
          <PlainText value={event.description} max={5_000} />
        </p>
      )}
      {event?.schema && <SchemaFields schema={event.schema} />}
      {event?.example && <CodeView name={words.events.example} text={JSON.stringify(event.example)} />}
      {event?.schema && <CodeView name={words.events.schema} text={JSON.stringify(event.schema)} />}
    </>
  );
}
