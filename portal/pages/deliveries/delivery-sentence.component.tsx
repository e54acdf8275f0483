import type { Delivery } from '../../api/portal.answers.js';
import { answerOf } from '../../components/attempt-result.component.js';
import { DeliveryBadge } from '../../components/badge.component.js';
import { toAge } from '../../components/time.component.js';
import { words } from '../../words/words.js';

/** What has become of the delivery, and what to do about it. */
export function DeliverySentence({ delivery }: { delivery: Delivery }) {
  return (
    <p class="verdict">
      <DeliveryBadge state={delivery.state} /> <span>{sentenceOf(delivery)}</span>
    </p>
  );
}

function sentenceOf({ state, attempts, reason, nextAttemptAt, givesUpAt }: Delivery): string {
  const last = attempts.at(-1);
  const givesUp = givesUpAt === undefined ? '' : words.delivery.givesUp(toAge(givesUpAt));
  switch (state) {
    case 'delivered':
      return last ? words.delivery.delivered(attempts.length, answerOf(last)) : words.delivery.deliveredPlain;
    case 'dead': {
      const ended = attempts.length > 0 ? words.delivery.dead(attempts.length) : words.delivery.deadUnsent;
      const why = reason && words.delivery.reasons[reason];
      return [ended, last && words.delivery.last(answerOf(last)), why].filter(Boolean).join(' ');
    }
    case 'waiting':
      return last && nextAttemptAt !== undefined
        ? `${words.delivery.waiting(answerOf(last), toAge(nextAttemptAt))} ${givesUp}`
        : words.delivery.waitingFirst;
    case 'active':
      return words.delivery.active;
  }
}
