import { useState } from 'preact/hooks';

import type { RefusalGroup } from '../../../lib/webhook-destination/queue/kept-refusals.js';
import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Button } from '../../components/button.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { Problem } from '../../components/problem.component.js';
import { Table } from '../../components/table.component.js';
import { TimeAndAge } from '../../components/time.component.js';
import { hrefOf, replaceQuery } from '../../shell/hash.router.js';
import { RefusedList } from './refused-list.component.js';
import { ResubmitDialog } from './resubmit.dialog.js';

/** Time between two readings, in ms. */
const EVERY = 5_000;

/** Messages of a source that are kept although they were refused, by reason and SDK; those of one reason are in the hash. */
export function RefusedMessages({ source, query }: { source: string; query: URLSearchParams }) {
  const [resubmitted, setResubmitted] = useState<RefusalGroup>();
  const { answer, error, reload } = useAnswer(
    (signal, isPoll) =>
      get<{ count: number; groups: RefusalGroup[] }>('refusals/count', { query: { source }, signal, isPoll }),
    source,
    EVERY,
  );
  const shown = answer?.groups.find((group) => keyOf(group) === query.get('refused'));
  return (
    <section class="panel">
      <h2>Refused messages</h2>
      <Problem error={error} onRetry={reload} />
      {answer?.count === 0 && <p class="muted">No refused message is kept.</p>}
      {answer && answer.count > 0 && <Groups groups={answer.groups} shown={shown} onResubmit={setResubmitted} />}
      {shown && <RefusedList key={keyOf(shown)} source={source} group={shown} />}
      {resubmitted && (
        <ResubmitDialog
          source={source}
          group={resubmitted}
          onResubmitted={reload}
          onClose={() => setResubmitted(undefined)}
        />
      )}
    </section>
  );
}

interface GroupsProps {
  groups: RefusalGroup[];
  /** The group whose messages are listed. */
  shown: RefusalGroup | undefined;
  onResubmit: (group: RefusalGroup) => void;
}

function Groups({ groups, shown, onResubmit }: GroupsProps) {
  return (
    <Table
      caption="Refused messages by reason"
      rows={groups}
      keyOf={keyOf}
      columns={[
        {
          title: 'Reason',
          cell: ({ code, message }) => (
            <>
              <code>{code}</code>
              <div class="muted">
                <PlainText value={message} max={200} />
              </div>
            </>
          ),
        },
        { title: 'Field', cell: ({ field }) => <PlainText value={field} max={80} /> },
        { title: 'SDK', cell: ({ sdk }) => <PlainText value={sdk} max={80} /> },
        { title: 'Kept', isNumber: true, cell: ({ count }) => count.toLocaleString() },
        { title: 'Newest', cell: ({ newest }) => <TimeAndAge at={newest} /> },
        {
          title: 'Action',
          cell: (group) => {
            const named = `${group.code}, ${toPlainText(group.sdk, 60)}`;
            return (
              <div class="actions">
                {group === shown ? (
                  <Button label={`Hide messages: ${named}`} onClick={() => replaceQuery({})}>
                    Hide
                  </Button>
                ) : (
                  <Button label={`Show messages: ${named}`} onClick={() => replaceQuery({ refused: keyOf(group) })}>
                    Show
                  </Button>
                )}
                <Button changes label={`Resubmit: ${named}`} onClick={() => onResubmit(group)}>
                  Resubmit…
                </Button>
              </div>
            );
          },
        },
      ]}
    />
  );
}

function keyOf({ code, field, sdk }: Pick<RefusalGroup, 'code' | 'field' | 'sdk'>): string {
  return JSON.stringify([code, field, sdk]);
}

/** Returns the link to the refused messages of a source that have the same reason and SDK. */
export function hrefOfRefusals(source: string, group: Parameters<typeof keyOf>[0]): string {
  return hrefOf('sources', { refused: keyOf(group) }, source);
}
