import { countOf } from '../../components/count.util.js';
import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { Ago, Due, Time } from '../../components/time.component.js';
import { answerOf } from './attempt-answer.component.js';
import type { Delivery } from './delivery.answer.js';
import { DestinationHold } from './destination-hold.component.js';

/** What has become of the delivery, in one sentence. */
export function DeliveryVerdict({ delivery }: { delivery: Delivery }) {
  const { state, destination, request } = delivery;
  return (
    <>
      <p class="verdict">
        <StateBadge state={state} /> <span>{sentenceOf(delivery)}</span>
      </p>
      {request && (state === 'queued' || state === 'waiting') && <DestinationHold destination={destination} />}
    </>
  );
}

function sentenceOf({ state, attempts, reason, nextAttemptAt, givesUpAt }: Delivery) {
  const count = countOf(attempts.length, 'attempt', 'attempts');
  const results = attempts.at(-1)?.results ?? [];
  const failed = results.find(({ outcome }) => outcome !== 'success');
  const last = failed && answerOf({ status: failed.status });
  const isOver = givesUpAt !== undefined && givesUpAt <= Date.now();
  const end = givesUpAt !== undefined && (
    <> {isOver ? 'Its retry window is over: the next attempt is the last.' : <GivesUp at={givesUpAt} />}</>
  );
  switch (state) {
    case 'delivered':
      return attempts.length > 0 && results.length === 0
        ? 'Nothing was sent.'
        : `A receiver accepted it, after ${count}.`;
    case 'dead':
      return (
        <>
          Not delivered, {attempts.length === 0 ? 'without an attempt' : `after ${count}`}:{' '}
          <PlainText value={reason} max={200} />
          {last !== undefined && ` (last: ${last})`}.
        </>
      );
    case 'waiting':
      return (
        <>
          {last !== undefined &&
            `${attempts.length === 1 ? 'The first attempt' : `The last of ${count}`} failed: ${last}. `}
          {nextAttemptAt !== undefined && (
            <>
              The next is <Due at={nextAttemptAt} />.
            </>
          )}
          {end}
        </>
      );
    case 'delivering':
      return <>An attempt is in progress.{end}</>;
    case 'queued':
      return <>It is in the queue.{end}</>;
  }
}

function GivesUp({ at }: { at: number }) {
  return (
    <>
      The relay gives up <Ago at={at} />, at <Time at={at} look="minute" />.
    </>
  );
}
