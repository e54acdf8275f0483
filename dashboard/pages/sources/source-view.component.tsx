import { get, path } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Answered } from '../../components/answered.component.js';
import { EntryActions } from '../../components/entry-actions.component.js';
import { EntryFault } from '../../components/entry-fault.component.js';
import { Facts } from '../../components/facts.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { Problem } from '../../components/problem.component.js';
import { HOUR, toSpans } from '../../components/span.util.js';
import { Table } from '../../components/table.component.js';
import { Time } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { RefusedMessages } from './refused-messages.component.js';
import { Refusals } from './refusals.component.js';
import { NothingSeen } from './nothing-seen.component.js';
import { rateOf, refusedCount, type Source, toRate } from './source.answer.js';
import { LastSeen } from './source-list.component.js';

/** Time between two readings of the source, in ms. */
const EVERY = 5_000;

/** One source: what it sends, and what is refused. */
export function SourceView({ name, query }: { name: string; query: URLSearchParams }) {
  const loaded = useAnswer(
    (signal, isPoll) => get<Source>(path`sources/${name}`, { query: { figures: 'true' }, signal, isPoll }),
    name,
    EVERY,
  );
  const { answer, error, reload } = loaded;
  return (
    <>
      <PageHeading title={toPlainText(name)}>
        <a href={hrefOf('sources')}>All sources</a>
      </PageHeading>
      <Problem error={error} onRetry={reload} />
      {answer && (
        <Answered from={loaded}>
          <EntryActions
            kind="source"
            entry={answer}
            rotateLabel="Rotate write key…"
            previousUntil={answer.previousKeyUntil}
            removal={
              <p>
                From then on, messages with its write key are refused. Messages already accepted are still delivered.
              </p>
            }
            onChanged={reload}
          />
          <div class="columns">
            <div>
              <Status source={answer} />
              <Hours source={answer} />
            </div>
            <Reasons source={answer} />
          </div>
          <RefusedMessages source={name} query={query} />
        </Answered>
      )}
    </>
  );
}

function Status({ source: { name, fault, figures, previousKeyUntil, createdAt, updatedAt } }: { source: Source }) {
  return (
    <section class="panel">
      <h2>Status</h2>
      <EntryFault fault={fault} />
      <Facts
        facts={[
          ['Last seen', <LastSeen {...figures} />],
          ['Rate, last 20 min', toRate(rateOf(figures))],
          ['Accepted, last day', figures.accepted.toLocaleString()],
          ['Repeated, last day', figures.duplicate.toLocaleString()],
          ['Refused, last day', refusedCount(figures).toLocaleString()],
          ['Previous write key', previousKeyUntil && <>also valid until {<Time at={previousKeyUntil} />}</>],
          ['Created', createdAt && <Time at={createdAt} />],
          ['Changed', updatedAt && <Time at={updatedAt} />],
        ]}
      />
      {figures.lastSeenAt === null && fault === undefined && <NothingSeen since={createdAt} />}
      <p>
        <a href={hrefOf('deliveries', { source: name })}>Deliveries of its messages</a>
      </p>
    </section>
  );
}

function Reasons({ source: { figures } }: { source: Source }) {
  return (
    <section class="panel">
      <h2>Refused by reason, last day</h2>
      {refusedCount(figures) === 0 ? (
        <p class="muted">Nothing was refused.</p>
      ) : (
        <Refusals caption="Refused by reason" refused={figures.refused} />
      )}
    </section>
  );
}

function Hours({ source: { figures } }: { source: Source }) {
  const hours = toSpans(figures.points, HOUR, (sum, point) => ({
    ...sum,
    accepted: sum.accepted + point.accepted,
    refused: sum.refused + point.refused,
  }));
  return (
    <section class="panel">
      <h2>Last day, by the hour</h2>
      {hours.length === 0 ? (
        <p class="muted">It sent nothing.</p>
      ) : (
        <Table
          caption="Last day, by the hour"
          rows={hours}
          keyOf={({ at }) => String(at)}
          columns={[
            { title: 'From', cell: ({ at }) => <Time at={at} look="hour" /> },
            { title: 'Accepted', isNumber: true, cell: ({ accepted }) => accepted.toLocaleString() },
            { title: 'Refused', isNumber: true, cell: ({ refused }) => refused.toLocaleString() },
          ]}
        />
      )}
    </section>
  );
}
