import { PlainText } from '../../components/plain-text.component.js';
import type { Delivery } from './delivery.answer.js';
import { DestinationHold } from './destination-hold.component.js';
import { Step } from './step.component.js';

/** What to do about each reason that the relay gives. */
const ADVICE: [begin: string, text: string][] = [
  [
    'every URL failed permanently',
    'The receiver refused it, and an answer of this kind is not tried again. Correct the URL or the receiver, then replay it.',
  ],
  ['the retry window is over', 'No URL took it while it was tried again. See that the receiver works, then replay it.'],
  [
    'address not allowed',
    'The relay may not connect to this address. Correct the URL or delivery.allowedNetworks, then replay it.',
  ],
  ['destination removed', 'Create a destination of this name, then replay it.'],
];

/** The last step: what comes next, or how it ended. */
export function DeliveryEnd({ delivery }: { delivery: Delivery }) {
  const { state, destination, request, nextAttemptAt, attempts, reason } = delivery;
  const last = attempts.at(-1);
  switch (state) {
    case 'queued':
      return (
        <Step title="Queued" look="active">
          <p>It is sent when its turn comes.</p>
          {request && <DestinationHold destination={destination} />}
        </Step>
      );
    case 'delivering':
      return (
        <Step title="Being sent" look="active">
          <p>An attempt is under way.</p>
        </Step>
      );
    case 'waiting':
      return (
        <Step title="Next attempt" at={nextAttemptAt} look="warn">
          <p>Until then it waits.</p>
          {request && <DestinationHold destination={destination} />}
        </Step>
      );
    case 'delivered': {
      if (last?.results.length === 0) {
        return (
          <Step title="Nothing to send" look="calm">
            <p>The destination’s transform left this message out.</p>
          </Step>
        );
      }
      const duration = last?.results.find(({ outcome }) => outcome === 'success')?.duration;
      return (
        <Step title="Delivered" at={last && duration !== undefined ? last.startedAt + duration : undefined} look="good">
          <p>A receiver took it.</p>
        </Step>
      );
    }
    case 'dead': {
      const advice = ADVICE.find(([begin]) => reason?.startsWith(begin))?.[1];
      return (
        <Step title="Dead" look="bad">
          <p>
            <strong>
              <PlainText value={reason} max={1_000} />
            </strong>
          </p>
          {advice && <p>{advice}</p>}
        </Step>
      );
    }
  }
}
