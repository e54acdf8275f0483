import { path } from '../../../dashboard/api/api.client.js';
import { useAnswer } from '../../../dashboard/api/answer.hook.js';
import { Facts } from '../../../dashboard/components/facts.component.js';
import { PageHeading } from '../../../dashboard/components/page-heading.component.js';
import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { toPlainText } from '../../../dashboard/components/plain-text.util.js';
import { hrefOf } from '../../../dashboard/shell/hash.router.js';
import type { EndpointDetails } from '../../api/portal.answers.js';
import { get } from '../../api/portal.client.js';
import { Breadcrumb } from '../../components/breadcrumb.component.js';
import { Problem } from '../../components/problem.component.js';
import { Time } from '../../components/time.component.js';
import { words } from '../../words/words.js';
import { DeliveryList } from './delivery-list.component.js';
import { EndpointActions } from './endpoint-actions.component.js';
import { EndpointStatus } from './endpoint-status.component.js';
import { EventNames } from './event-names.component.js';
import { SecretPanel } from './secret-panel.component.js';

/** Time between two readings of the endpoint, in ms. */
const EVERY = 5_000;

/** Maximum number of event names that are shown. */
const NAMES = 50;

/** One endpoint: its state, its secret, and what was sent to it. */
export default function EndpointView({ id, query }: { id: string; query: URLSearchParams }) {
  const load = (signal: AbortSignal) => get<EndpointDetails>(path`endpoints/${id}`, { signal });
  const { answer, error, reload } = useAnswer(load, id, EVERY);
  return (
    <>
      <Breadcrumb href={hrefOf('endpoints')}>{words.endpoint.breadcrumb}</Breadcrumb>
      <PageHeading title={answer ? toPlainText(answer.url, 300) : words.delivery.breadcrumb}>
        {answer && <EndpointActions endpoint={answer} />}
      </PageHeading>
      <Problem error={error} onRetry={reload} />
      {!answer && !error && <p role="status">{words.shell.loading}</p>}
      {answer && (
        <>
          <EndpointStatus endpoint={answer} onChanged={reload} />
          <div class="columns">
            <Details endpoint={answer} />
            <SecretPanel endpoint={answer} onChanged={reload} />
          </div>
          <DeliveryList endpoint={answer} query={query} onChanged={reload} />
        </>
      )}
    </>
  );
}

function Details({ endpoint: { description, events, createdAt, counts } }: { endpoint: EndpointDetails }) {
  return (
    <section class="panel">
      <h2>{words.endpoint.details}</h2>
      <Facts
        facts={[
          [words.endpoint.descriptionOf, description ? <PlainText value={description} max={1_000} /> : undefined],
          [words.endpoint.eventsOf, <EventNames events={events} max={NAMES} />],
          [words.endpoint.addedAt, createdAt === undefined ? undefined : <Time at={createdAt} />],
          [words.endpoint.waiting, words.number(counts.waiting), 'number'],
          [words.endpoint.delivered, words.number(counts.delivered), 'number'],
          [words.endpoint.dead, words.number(counts.dead), 'number'],
        ]}
      />
    </section>
  );
}
