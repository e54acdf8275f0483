import { useState } from 'preact/hooks';

import type { DeletionResult } from '../../../lib/webhook-destination/admin/user-deletion.js';
import { request } from '../../api/api.client.js';
import { useChange } from '../../api/change.hook.js';
import { countOf } from '../../components/count.util.js';
import { TextField } from '../../components/field.component.js';
import { FormDialog } from '../../components/form.dialog.js';
import { isTypedAs, toPlainText } from '../../components/plain-text.util.js';

export interface DeletionDialogProps {
  userId: string;
  onClose: () => void;
  /** @param outcome what was deleted, as a sentence */
  onDeleted: (outcome: string) => void;
}

/** Deletes a user's data once the id is typed, because the deletion cannot be undone. */
export function DeletionDialog({ userId, onClose, onDeleted }: DeletionDialogProps) {
  const [typed, setTyped] = useState('');
  const deletion = useChange(async () => {
    onDeleted(toOutcome(await request<DeletionResult>('POST', 'deletions', { body: { userId } })));
  });
  return (
    <FormDialog
      title="Delete the user's data?"
      label={deletion.isBusy ? 'Deleting…' : 'Delete'}
      look="danger"
      disabledReason={isTypedAs(typed, userId) ? undefined : 'Type the id of the user first.'}
      change={deletion}
      error={deletion.error}
      onClose={onClose}
    >
      <p>
        All deliveries of <strong class="plain-text">{toPlainText(userId, userId.length)}</strong> are removed from the
        queue, whatever their state, with bodies and attempts. Each enabled destination is sent a delete notification.
        This cannot be undone.
      </p>
      <TextField label="Type the id of the user to confirm" value={typed} isRequired onValue={setTyped} />
    </FormDialog>
  );
}

function toOutcome({ purged, notifications }: DeletionResult): string {
  return `${countOf(purged, 'delivery', 'deliveries')} deleted, ${countOf(notifications, 'delete notification', 'delete notifications')} queued.`;
}
