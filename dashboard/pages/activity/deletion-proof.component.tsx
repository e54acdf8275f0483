import { Fragment } from 'preact';

import type { DeletionProof as Proof } from '../../../lib/webhook-destination/observe/audit.log.js';
import { countOf } from '../../components/count.util.js';
import { NameLink, type NameLinkProps } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { Table } from '../../components/table.component.js';
import { Time } from '../../components/time.component.js';
import type { Receipt, WholeEntry } from './activity.entry.js';

const NONE: Receipt = { delivered: 0, dead: 0, at: 0 };

/** What a deletion removed, which receivers were told, and what they answered. */
export function DeletionProof({ entry: { receipts = {}, result }, deletion }: { entry: WholeEntry; deletion: Proof }) {
  const receiptOf = new Map(Object.entries(receipts)); // a destination may have a name that objects inherit
  const sources = Object.entries(deletion.purged);
  const receivers = Object.entries(deletion.receivers);
  return (
    <>
      <section class="panel">
        <h2>What was deleted</h2>
        <p>
          {!deletion.sources
            ? 'The deletion was of all sources'
            : `The deletion was limited to the ${deletion.sources.length === 1 ? 'source' : 'sources'} `}
          {deletion.sources && <Names of="sources" names={deletion.sources} />}.
        </p>
        {result === 'failed' && (
          <p class="warn-text">It failed, and may have removed only a part of the data. It has to be repeated.</p>
        )}
        {sources.length === 0 ? (
          <p>
            {result === 'failed' ? 'No removed delivery is recorded.' : 'The queue had no deliveries of the users.'}
          </p>
        ) : (
          <Table
            caption="Deleted deliveries by source"
            rows={sources}
            keyOf={([name]) => name}
            columns={[
              { title: 'Source', cell: ([name]) => <NameLink of="sources" name={name} max={80} /> },
              { title: 'Deliveries', isNumber: true, cell: ([, count]) => count.toLocaleString() },
            ]}
          />
        )}
      </section>
      <section class="panel">
        <h2>Who was told</h2>
        {receivers.length === 0 ? (
          <p>No receiver was told.</p>
        ) : (
          <Table
            caption="Receivers that were told"
            rows={receivers}
            keyOf={([name]) => name}
            columns={[
              { title: 'Receiver', cell: ([name]) => <NameLink of="destinations" name={name} max={80} /> },
              { title: 'Notifications', isNumber: true, cell: ([, count]) => count.toLocaleString() },
              {
                title: 'Answer',
                cell: ([name, count]) => <Answer receipt={receiptOf.get(name) ?? NONE} count={count} />,
              },
              { title: 'Last answer', cell: ([name]) => <Time at={receiptOf.get(name)?.at} /> },
            ]}
          />
        )}
        {deletion.leftOut > 0 && (
          <p>
            Not told, because no source was named:{' '}
            {countOf(deletion.leftOut, 'endpoint of a tenant', 'endpoints of tenants')}.
          </p>
        )}
        {deletion.disabled.length > 0 && (
          <p>
            Not told, because disabled: <Names of="destinations" names={deletion.disabled} />.
          </p>
        )}
      </section>
    </>
  );
}

function Names({ of, names }: Pick<NameLinkProps, 'of'> & { names: string[] }) {
  return names.map((name, index) => (
    <Fragment key={name}>
      {index > 0 && ', '}
      <NameLink of={of} name={name} max={80} />
    </Fragment>
  ));
}

function Answer({ receipt: { delivered, dead, status, reason }, count }: { receipt: Receipt; count: number }) {
  const accepted = Math.min(delivered, count);
  const state = accepted === count ? 'accepted' : dead > 0 ? 'dead' : 'waiting';
  return (
    <>
      <StateBadge state={state} label={state === 'waiting' ? 'not answered yet' : state} />
      <div class="second-line">
        {accepted.toLocaleString()} of {count.toLocaleString()} accepted
        {status !== undefined && `, HTTP ${status}`}
        {state === 'dead' && reason !== undefined && (
          <>
            , <PlainText value={reason} max={120} />
          </>
        )}
      </div>
    </>
  );
}
