import { useState } from 'preact/hooks';

import type { DestinationEntry } from '../../../webhook-destination/registry/registry-entry.interface.js';
import { get, path, request } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Button } from '../../components/button.component.js';
import { Dialog } from '../../components/dialog.component.js';
import { notify } from '../../components/notice.state.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Problem } from '../../components/problem.component.js';
import type { Delivery } from './delivery.answer.js';

export interface ReplayDialogProps {
  delivery: Delivery;
  onClose: () => void;
  onReplayed: () => void;
}

/** Says what a replay does, and does it. */
export function ReplayDialog({ delivery, onClose, onReplayed }: ReplayDialogProps) {
  const { id, destination, messageId, request: preview } = delivery;
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const replay = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await request('POST', path`deliveries/${id}/replay`);
      notify('The delivery is queued again.');
      onClose();
    } catch (fault) {
      setError(fault);
      setBusy(false);
    }
    onReplayed();
  };
  return (
    <Dialog title="Replay this delivery?" onClose={onClose}>
      <p>
        Message <PlainText value={messageId} max={80} /> goes to <PlainText value={destination} max={80} /> again:
      </p>
      {preview && (
        <ul class="receivers mono">
          {preview.urls.map((url) => (
            <li key={url}>
              <PlainText value={url} max={300} />
            </li>
          ))}
        </ul>
      )}
      <ul class="bullets">
        <li>The message id stays the same, so a receiver that has the message can drop it.</li>
        <li>The request is signed with today’s secret.</li>
        <li>A new retry window begins.</li>
      </ul>
      {preview ? <Hold destination={destination} /> : <p class="warn-text">This destination is not in use any more.</p>}
      <Problem error={error} />
      <div class="actions">
        <Button changes look="primary" isBusy={isBusy} onClick={() => void replay()}>
          {isBusy ? 'Replaying…' : 'Replay'}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

/** Says that the destination sends nothing now, if that is so. */
function Hold({ destination }: { destination: string }) {
  const load = (signal: AbortSignal) => get<DestinationEntry>(path`destinations/${destination}`, { signal });
  const { answer } = useAnswer(load, destination);
  if (!answer || (answer.enabled && !answer.paused)) return null;
  return (
    <p class="warn-text">
      {answer.paused
        ? 'The destination is paused: the delivery waits until it is resumed.'
        : 'The destination is disabled: the delivery waits until it is enabled.'}
    </p>
  );
}
