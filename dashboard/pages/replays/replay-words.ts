import type { ReplayableState } from '../../../lib/webhook-destination/queue/delivery.interface.js';

/** What a replay is called, by the state of its deliveries. */
interface ReplayWords {
  /** Button that replays one, and text that it is done. */
  one: string;
  done: string;
  /** Button that opens the dialog for many: for all, and for all that match a filter. */
  all: string;
  matching: string;
  /** Title of that dialog, and its button. */
  title: string;
  start: (deliveries: string) => string;
  /** What will happen to a number of deliveries. */
  outcome: string;
  /** Label of the number of deliveries for which it is done. */
  progress: string;
  /** What happens to those that are left when it is cancelled. */
  rest: string;
}

export const REPLAY_WORDS: Record<ReplayableState, ReplayWords> = {
  dead: {
    one: 'Replay…',
    done: 'The delivery is queued again.',
    all: 'Replay all…',
    matching: 'Replay all that match…',
    title: 'Replay dead deliveries?',
    start: (deliveries) => `Replay ${deliveries}`,
    outcome: 'will be sent again.',
    progress: 'Queued again',
    rest: 'The remaining deliveries stay dead.',
  },
  delivered: {
    one: 'Send again…',
    done: 'The delivery is queued again.',
    all: 'Send all again…',
    matching: 'Send all that match again…',
    title: 'Send delivered messages again?',
    start: (deliveries) => `Send ${deliveries} again`,
    outcome: 'will be sent again: receivers have got them already, and get them once more.',
    progress: 'Queued again',
    rest: 'The remaining deliveries are not sent again.',
  },
  waiting: {
    one: 'Try now',
    done: 'The delivery is due now: it is sent as soon as its destination takes deliveries.',
    all: 'Try all now…',
    matching: 'Try all that match now…',
    title: 'Try waiting deliveries now?',
    start: (deliveries) => `Try ${deliveries} now`,
    outcome: 'will be tried now.',
    progress: 'Due now',
    rest: 'The remaining deliveries wait for their next attempt.',
  },
};

/** Returns the state of deliveries that can be replayed; undefined for another. */
export function toReplayable(state: string | undefined): ReplayableState | undefined {
  return state !== undefined && Object.hasOwn(REPLAY_WORDS, state) ? (state as ReplayableState) : undefined;
}
