import type { NamedEntry } from '../../../lib/webhook-destination/registry/entry.manager.js';
import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Table } from '../../components/table.component.js';

export interface FoundEntriesProps {
  kind: 'destinations' | 'sources';
  entries: NamedEntry[];
}

/** Destinations or sources with the text in their name or metadata. */
export function FoundEntries({ kind, entries }: FoundEntriesProps) {
  if (entries.length === 0) return null;
  const title = kind === 'destinations' ? 'Destinations' : 'Sources';
  return (
    <section class="panel">
      <h2>{title}</h2>
      <Table
        caption={title}
        rows={entries}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Name', cell: ({ name }) => <NameLink of={kind} name={name} max={80} /> },
          {
            title: 'Found in',
            cell: ({ matched, value }) =>
              matched === 'name' ? (
                'its name'
              ) : (
                <>
                  <PlainText value={matched} max={80} />: <PlainText value={value} max={80} />
                </>
              ),
          },
        ]}
      />
    </section>
  );
}
