import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { hrefOf } from '../../../dashboard/shell/hash.router.js';
import type { DeliverySummary } from '../../api/portal.answers.js';
import { answerOf } from '../../components/attempt-result.component.js';
import { DeliveryBadge } from '../../components/badge.component.js';
import { Ago, toAge } from '../../components/time.component.js';
import { words } from '../../words/words.js';

/** A delivery in a list, with a link to it. */
export function DeliveryRow({ delivery }: { delivery: DeliverySummary }) {
  const { id, event, type, messageId, state, acceptedAt, attempts, lastAttempt, nextAttemptAt } = delivery;
  const facts = [
    lastAttempt ? answerOf(lastAttempt) : state === 'dead' && words.attempt.none,
    attempts > 1 && words.deliveries.attempts(attempts),
    state === 'waiting' && nextAttemptAt !== undefined && words.deliveries.next(toAge(nextAttemptAt)),
  ];
  return (
    <li class="row">
      <div class="row-text">
        <PlainText value={event ?? type ?? messageId} max={120} href={hrefOf('deliveries', {}, id)} />
        <div class="second-line">
          <PlainText value={messageId} max={80} />
        </div>
      </div>
      <div class="row-state">
        <DeliveryBadge state={state} />
        <div class="second-line">{facts.filter(Boolean).join(' · ')}</div>
      </div>
      <div class="row-time second-line">
        <Ago at={acceptedAt} />
      </div>
    </li>
  );
}
