import { useState } from 'preact/hooks';

import type { KeptRefusal, RefusalGroup } from '../../../lib/webhook-destination/queue/kept-refusals.js';
import { getPortion, useKeyset } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { KeysetTable } from '../../components/table.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { Time } from '../../components/time.component.js';
import { RefusedTextDialog } from './refused-text.dialog.js';

interface RefusedListProps {
  source: string;
  /** When the number of its messages changes, the list is loaded again. */
  group: RefusalGroup;
}

/** The refused messages of a group, newest first. */
export function RefusedList({ source, group: { code, field, sdk, count } }: RefusedListProps) {
  const [opened, setOpened] = useState<KeptRefusal>();
  const filter = { source, code, field, sdk };
  const list = useKeyset(
    (cursor, signal) => getPortion<KeptRefusal>('refusals', { ...filter, cursor }, signal),
    JSON.stringify([filter, count]),
  );
  return (
    <>
      <h3>
        Messages refused with <code>{code}</code>
        {sdk !== undefined && (
          <>
            , from <PlainText value={sdk} max={80} />
          </>
        )}
      </h3>
      <KeysetTable
        list={list}
        caption={`Messages refused with ${code}`}
        keyOf={({ id }) => id}
        empty={<EmptyState title="None are kept any more." />}
        columns={[
          { title: 'Refused', cell: ({ at }) => <Time at={at} /> },
          {
            title: 'Message',
            cell: ({ route, type, event }) => (
              <PlainText value={route ? `request to ${route}` : (event ?? type)} max={80} />
            ),
          },
          {
            title: 'Message id',
            cell: ({ messageId }) => (
              <PlainText value={messageId} max={60} href={hrefOf('search', { text: messageId })} />
            ),
          },
          { title: 'User agent', cell: ({ userAgent }) => <PlainText value={userAgent} max={80} /> },
          {
            title: 'Size',
            isNumber: true,
            cell: ({ bytes }) => (bytes === undefined ? 'not read' : `${bytes.toLocaleString()} B`),
          },
          { title: 'Text', cell: (refusal) => <Button onClick={() => setOpened(refusal)}>Show text</Button> },
        ]}
      />
      {opened && <RefusedTextDialog source={source} refusal={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}
