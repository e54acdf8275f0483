import { path, request } from '../../api/api.client.js';
import { toSentence } from '../../api/api.error.js';
import { useChange } from '../../api/change.hook.js';
import { Button } from '../../components/button.component.js';
import { notify } from '../../components/notice.state.js';
import { REPLAY_WORDS, toReplayable } from '../replays/replay-words.js';
import type { Delivery } from './delivery.answer.js';

export interface ReplayButtonProps {
  delivery: Delivery;
  /** The replay needs a confirmation. */
  onDialog: () => void;
  onReplayed: () => void;
}

/** Tries a waiting delivery now; one that has ended is sent again once that is confirmed. */
export function ReplayButton({ delivery: { id, state }, onDialog, onReplayed }: ReplayButtonProps) {
  const replayable = toReplayable(state);
  const tryNow = useChange(async () => {
    try {
      await request('POST', path`deliveries/${id}/replay`, { body: { state: 'waiting' } });
      notify(REPLAY_WORDS.waiting.done);
    } catch (error) {
      notify(toSentence(error), 'failed');
    }
    onReplayed();
  });
  return (
    <Button
      changes
      look="primary"
      isBusy={tryNow.isBusy}
      disabledReason={
        replayable ? undefined : state === 'queued' ? 'It is in the queue already.' : 'An attempt is in progress.'
      }
      onClick={replayable === 'waiting' ? tryNow.run : onDialog}
    >
      {REPLAY_WORDS[replayable ?? 'dead'].one}
    </Button>
  );
}
