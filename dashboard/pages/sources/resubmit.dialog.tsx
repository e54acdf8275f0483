import type { RefusalGroup, ResubmissionResult } from '../../../lib/webhook-destination/queue/kept-refusals.js';
import { request } from '../../api/api.client.js';
import { useChange } from '../../api/change.hook.js';
import { ChangeActions } from '../../components/form.dialog.js';
import { countOf } from '../../components/count.util.js';
import { Dialog } from '../../components/dialog.component.js';
import { Facts } from '../../components/facts.component.js';
import { notify } from '../../components/notice.state.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Problem } from '../../components/problem.component.js';

interface ResubmitDialogProps {
  source: string;
  group: RefusalGroup;
  onResubmitted: () => void;
  onClose: () => void;
}

/** Explains what a resubmission does, and makes it. */
export function ResubmitDialog({ source, group, onResubmitted, onClose }: ResubmitDialogProps) {
  const { code, field, sdk, count } = group;
  const named = countOf(count, 'message', 'messages');
  const resubmit = useChange(async () => {
    try {
      const body = { source, code, field, sdk, expected: count };
      const result = await request<ResubmissionResult>('POST', 'refusals/resubmit', { body });
      notify(toOutcome(result), result.accepted > 0 ? 'done' : 'failed');
      onClose();
    } finally {
      onResubmitted();
    }
  });
  return (
    <Dialog title="Resubmit refused messages?" isBusy={resubmit.isBusy} onClose={onClose}>
      <Facts
        facts={[
          ['Source', <PlainText value={source} max={80} />],
          ['Reason', <code>{code}</code>],
          ['Field', <PlainText value={field} max={80} />],
          ['SDK', <PlainText value={sdk} max={80} />],
        ]}
      />
      <p>The rules of ingest will be applied again to {named}.</p>
      <ul class="bullets">
        <li>Those that are accepted now are routed as any other, and no longer listed here.</li>
        <li>The others stay, with their new reason.</li>
        <li>They keep their message ids and times.</li>
        <li>If the number changes before you resubmit, none is resubmitted.</li>
      </ul>
      <Problem error={resubmit.error} />
      <ChangeActions isBusy={resubmit.isBusy} onClick={resubmit.run} onCancel={onClose}>
        {resubmit.isBusy ? 'Resubmitting…' : `Resubmit ${named}`}
      </ChangeActions>
    </Dialog>
  );
}

function toOutcome({ accepted, refused, left }: ResubmissionResult): string {
  const parts = [`${countOf(accepted, 'message was', 'messages were')} accepted`];
  if (refused > 0) parts.push(`${refused.toLocaleString()} refused again`);
  if (left > 0) parts.push(`${left.toLocaleString()} left: resubmit again`);
  return `${parts.join(', ')}.`;
}
