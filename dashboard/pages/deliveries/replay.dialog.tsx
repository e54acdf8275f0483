import { useRef } from 'preact/hooks';

import { path, request } from '../../api/api.client.js';
import { useChange } from '../../api/change.hook.js';
import { ChangeActions } from '../../components/form.dialog.js';
import { Dialog } from '../../components/dialog.component.js';
import { notify } from '../../components/notice.state.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Problem } from '../../components/problem.component.js';
import { REPLAY_WORDS } from '../replays/replay-words.js';
import type { Delivery } from './delivery.answer.js';
import { DestinationHold } from './destination-hold.component.js';

export interface ReplayDialogProps {
  delivery: Delivery;
  onClose: () => void;
  onReplayed: () => void;
}

/** Explains what a replay does, and starts it. */
export function ReplayDialog({ delivery, onClose, onReplayed }: ReplayDialogProps) {
  const { id, destination, messageId, request: preview } = delivery;
  // As confirmed: by now, it may be in another state.
  const state = useRef(delivery.state === 'delivered' ? ('delivered' as const) : ('dead' as const)).current;
  const isSentAgain = state === 'delivered';
  const replay = useChange(async () => {
    try {
      await request('POST', path`deliveries/${id}/replay`, { body: { state } });
      notify(REPLAY_WORDS[state].done);
      onClose();
    } finally {
      onReplayed();
    }
  });
  return (
    <Dialog
      title={isSentAgain ? 'Send this delivery again?' : 'Replay this delivery?'}
      isBusy={replay.isBusy}
      onClose={onClose}
    >
      {isSentAgain && (
        <p class="warning">
          The receiver has got this message already, and gets it once more. It may process it twice.
        </p>
      )}
      <p>
        Message <PlainText value={messageId} max={80} /> will be sent again to{' '}
        <PlainText value={destination} max={80} />:
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
        <li>The message id stays the same, so the receiver can deduplicate.</li>
        <li>The request is signed with the current secret.</li>
        <li>A new retry window begins.</li>
      </ul>
      <DestinationHold destination={destination} />
      <Problem error={replay.error} />
      <ChangeActions isBusy={replay.isBusy} onClick={replay.run} onCancel={onClose}>
        {replay.isBusy ? 'Sending…' : REPLAY_WORDS[state].one.replace('…', '')}
      </ChangeActions>
    </Dialog>
  );
}
