import { useState } from 'preact/hooks';

import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { getPortion, useKeyset } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { CountLink } from '../../components/count-link.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { NameLink } from '../../components/name-link.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { Problem } from '../../components/problem.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { KeysetTable } from '../../components/table.component.js';
import { Time } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { whyNoEntries } from '../../shell/session.state.js';
import type { SourceFigures } from '../../../lib/webhook-destination/observe/relay-series.js';
import { CreateSourceDialog } from './create-source.dialog.js';
import { Refusals } from './refusals.component.js';
import { rateOf, refusedCount, type Source, toRate } from './source.answer.js';

const EVERY = 10_000;

/** All sources, sorted by name. */
export function SourceList() {
  const [isCreating, setCreating] = useState(false);
  const list = useKeyset(
    (cursor, signal) => getPortion<Source>('sources', { figures: 'true', cursor }, signal),
    'sources',
  );
  return (
    <>
      <PageHeading title="Sources">
        <Button onClick={list.reload}>Refresh</Button>
        <Button look="primary" changes disabledReason={whyNoEntries.value} onClick={() => setCreating(true)}>
          New source…
        </Button>
      </PageHeading>
      {whyNoEntries.value && <p class="hint">{whyNoEntries.value}</p>}
      <KeysetTable
        list={list}
        caption="Sources"
        keyOf={({ name }) => name}
        empty={
          <EmptyState title="No sources yet.">
            {!whyNoEntries.value && <p>Create one with “New source”: clients send messages with its write key.</p>}
          </EmptyState>
        }
        columns={[
          {
            title: 'Name',
            cell: ({ name, fault }) => (
              <>
                <NameLink of="sources" name={name} max={80} />{' '}
                {fault !== undefined && <StateBadge state="dead" label="not used" />}
              </>
            ),
          },
          { title: 'Last seen', cell: ({ figures }) => <LastSeen {...figures} /> },
          { title: 'Rate, last 20 min', isNumber: true, cell: ({ figures }) => toRate(rateOf(figures)) },
          { title: 'Accepted, last day', isNumber: true, cell: ({ figures }) => figures.accepted.toLocaleString() },
          {
            title: 'Refused, last day',
            isNumber: true,
            cell: ({ name, figures }) => <CountLink count={refusedCount(figures)} href={hrefOf('sources', {}, name)} />,
          },
          { title: 'Set in', cell: ({ origin }) => (origin === 'fixed' ? 'code' : origin) },
        ]}
      />
      <UnknownKeys />
      {isCreating && <CreateSourceDialog onCreated={list.reload} onClose={() => setCreating(false)} />}
    </>
  );
}

/** When a source last sent something. */
export function LastSeen({ lastSeenAt }: SourceFigures) {
  return lastSeenAt === null ? <span class="muted">not in the last day</span> : <Time at={lastSeenAt} />;
}

/** Refused requests without a known write key. */
function UnknownKeys() {
  const { answer, error, reload } = useAnswer(
    (signal, isPoll) => get<SourceFigures>('refusals/keyless', { signal, isPoll }),
    'keyless',
    EVERY,
  );
  if (answer ? refusedCount(answer) === 0 : !error) return null;
  return (
    <section class="panel">
      <h2>Refused without a known write key, last day</h2>
      <Problem error={error} onRetry={reload} />
      {answer && (
        <p>
          Most recent: <Time at={answer.lastSeenAt} />
        </p>
      )}
      {answer && <Refusals caption="Refused without a known write key" refused={answer.refused} />}
    </section>
  );
}
