import type { FoundRefusal } from '../../../lib/webhook-destination/queue/kept-refusals.js';
import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Table } from '../../components/table.component.js';
import { Time } from '../../components/time.component.js';
import { hrefOfRefusals } from '../sources/refused-messages.component.js';

/** Refused messages with the text as their message id or user id. */
export function FoundRefusals({ refusals }: { refusals: FoundRefusal[] }) {
  if (refusals.length === 0) return null;
  return (
    <section class="panel">
      <h2>Refused messages</h2>
      <Table
        caption="Refused messages"
        rows={refusals}
        keyOf={({ source, id }) => JSON.stringify([source, id])}
        columns={[
          { title: 'Refused', cell: ({ at }) => <Time at={at} /> },
          {
            title: 'Reason',
            cell: (refusal) => (
              <PlainText value={refusal.message} max={200} href={hrefOfRefusals(refusal.source, refusal)} />
            ),
          },
          { title: 'Source', cell: ({ source }) => <NameLink of="sources" name={source} max={80} /> },
          { title: 'Message id', cell: ({ messageId }) => <PlainText value={messageId} max={60} /> },
          { title: 'SDK', cell: ({ sdk }) => <PlainText value={sdk} max={80} /> },
        ]}
      />
    </section>
  );
}
