import { useState } from 'preact/hooks';

import type { DeletionPreview, DeletionResult } from '../../../lib/webhook-destination/admin/user-deletion.js';
import { request } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { useChange } from '../../api/change.hook.js';
import { countOf } from '../../components/count.util.js';
import { TextField } from '../../components/field.component.js';
import { FormDialog } from '../../components/form.dialog.js';
import { isTypedAs, toPlainText } from '../../components/plain-text.util.js';
import { Problem } from '../../components/problem.component.js';
import { DeletionScope } from './deletion-scope.component.js';

/** Maximum number of destinations that are named. */
const MAX_NAMED = 10;

export interface DeletionDialogProps {
  userId: string;
  onClose: () => void;
  /** @param outcome what was deleted, as a sentence */
  onDeleted: (id: string, outcome: string) => void;
}

/**
 * Deletes a user's data from the chosen sources, each of which may be another tenant's, once the id is typed: the deletion
 * cannot be undone.
 */
export function DeletionDialog({ userId, onClose, onDeleted }: DeletionDialogProps) {
  const [typed, setTyped] = useState('');
  const [sources, setSources] = useState<string[] | 'all'>([]);
  const body = { userId, ...(sources !== 'all' && { sources }) };
  const deletion = useChange(async () => {
    const result = await request<DeletionResult>('POST', 'deletions', { body });
    onDeleted(result.id, toOutcome(result));
  });
  const missing =
    sources.length === 0 ? 'Choose a source first.' : isTypedAs(typed, userId) ? undefined : 'Type the id first.';
  return (
    <FormDialog
      title="Delete the user's data?"
      label={deletion.isBusy ? 'Deleting…' : 'Delete'}
      look="danger"
      disabledReason={missing}
      change={deletion}
      error={deletion.error}
      onClose={onClose}
    >
      <p>
        Deliveries of <strong class="plain-text">{toPlainText(userId, userId.length)}</strong> from the chosen sources
        are removed from the queue, whatever their state, with bodies and attempts. So are the user's refused messages.
        This cannot be undone.
      </p>
      <DeletionScope userId={userId} scope={sources} onScope={setSources} />
      {sources.length > 0 && <Receivers body={body} />}
      {deletion.error && !deletion.error.field && (
        <p class="warn-text">A part of the data may have been removed. Repeat the deletion.</p>
      )}
      <TextField label="Type the id of the user to confirm" value={typed} isRequired onValue={setTyped} />
    </FormDialog>
  );
}

/** Whom the deletion notifies. */
function Receivers({ body }: { body: object }) {
  const load = (signal: AbortSignal) => request<DeletionPreview>('POST', 'deletions/preview', { body, signal });
  const { answer, error, reload } = useAnswer(load, JSON.stringify(body));
  return (
    <div role="status" class="keyset">
      <Problem error={error} onRetry={reload} />
      {answer && (
        <p>
          {answer.notifications === 0
            ? 'No destination is notified.'
            : `${countOf(answer.notifications, 'destination is', 'destinations are')} notified: ${toNames(answer.receivers, answer.notifications)}.`}
          {answer.disabled.length > 0 &&
            ` ${toNames(answer.disabled)} ${answer.disabled.length === 1 ? 'is' : 'are'} disabled, and not notified, now or later.`}
        </p>
      )}
      {answer && answer.disabledEndpoints > 0 && (
        <p class="warning">
          {countOf(answer.disabledEndpoints, 'of them is an endpoint', 'of them are endpoints')} disabled, or paused by
          the tenant: the notifications to these become dead, and can be replayed later.
        </p>
      )}
      {answer && answer.leftOut > 0 && (
        <p class="warning">
          {countOf(answer.leftOut, 'endpoint of a tenant is', 'endpoints of tenants are')} not notified, because all
          sources are chosen at once: to notify them, choose the sources one by one.
        </p>
      )}
    </div>
  );
}

/** Returns the first names, and how many others there are. */
function toNames(names: string[], total = names.length): string {
  const shown = names.slice(0, MAX_NAMED).map((name) => toPlainText(name, 60));
  const left = total - shown.length;
  return shown.join(', ') + (left > 0 ? ` and ${left.toLocaleString()} more` : '');
}

function toOutcome({ purged, refused, notifications }: DeletionResult): string {
  const removed = refused > 0 ? ` and ${countOf(refused, 'refused message', 'refused messages')}` : '';
  return `${countOf(purged, 'delivery', 'deliveries')}${removed} deleted, ${countOf(notifications, 'delete notification', 'delete notifications')} queued.`;
}
