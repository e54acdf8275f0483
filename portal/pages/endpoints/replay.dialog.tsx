import { useState } from 'preact/hooks';

import { path } from '../../../dashboard/api/api.client.js';
import { useChange } from '../../../dashboard/api/change.hook.js';
import { toFieldFaults } from '../../../dashboard/api/field-faults.util.js';
import { TextField } from '../../../dashboard/components/field.component.js';
import { toLocalTime } from '../../../dashboard/components/local-time.util.js';
import type { Endpoint } from '../../api/portal.answers.js';
import { request } from '../../api/portal.client.js';
import { Button } from '../../components/button.component.js';
import { Dialog } from '../../components/dialog.component.js';
import { FormDialog } from '../../components/form.dialog.js';
import { words } from '../../words/words.js';

const DAY = 86_400_000;

interface Replayed {
  replayed: number;
  /** Whether there may be others. */
  more?: boolean;
}

export interface ReplayDialogProps {
  endpoint: Endpoint;
  onReplayed: () => void;
  onClose: () => void;
}

/** Sends again what has failed since a time. */
export function ReplayDialog({ endpoint, onReplayed, onClose }: ReplayDialogProps) {
  const { id } = endpoint;
  const [since, setSince] = useState(() => toLocalTime(`${startOf(endpoint)}`).slice(0, 16)); // to the minute
  const [result, setResult] = useState<Replayed>();
  const at = new Date(since).getTime();
  const replay = useChange(async () => {
    setResult(await request<Replayed>('POST', path`endpoints/${id}/replays`, { body: { since: at } }));
    onReplayed();
  });
  const { byField, rest } = toFieldFaults(replay.error, ['since']);
  if (result) {
    const { replayed, more } = result;
    return (
      <Dialog title={words.deliveries.title} onClose={onClose}>
        <p role="status">{replayed === 0 ? words.replays.none : words.replays.done(replayed)}</p>
        {more && <p>{words.replays.more}</p>}
        <div class="actions">
          <Button look="primary" onClick={onClose}>
            {words.actions.close}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={words.replays.title}
      label={words.replays.start}
      disabledReason={Number.isNaN(at) ? words.replays.badTime : undefined}
      change={replay}
      error={rest}
      onClose={onClose}
    >
      <p>{words.replays.lead}</p>
      <TextField
        label={words.replays.since}
        type="datetime-local"
        value={since}
        error={byField.since}
        onValue={setSince}
      />
    </FormDialog>
  );
}

/** Returns when the endpoint began to fail, and at least a day ago: in ms since the epoch. */
function startOf({ failingSince = Infinity, disabled }: Endpoint): number {
  return Math.min(failingSince, disabled?.since ?? Infinity, Date.now() - DAY);
}
