import { toSentence } from '../../api/api.error.js';
import { PlainText } from '../../components/plain-text.component.js';
import type { Delivery } from './delivery.answer.js';
import { Step } from './step.component.js';

/** What to do about each reason that the relay gives. */
const ADVICE: [begin: string, text: string][] = [
  [
    'every URL failed permanently',
    'Failures of this kind are not retried. Correct the URL or the receiver, then replay the delivery.',
  ],
  [
    'the retry window is over',
    'No URL accepted the delivery within its retry window. While its destination is down, a delivery may get only one attempt, at the end. Check that the receiver works, then replay the delivery.',
  ],
  [
    'address not allowed',
    'The relay may not connect to this address. Correct the URL or delivery.allowedNetworks, then replay the delivery.',
  ],
  ['transform failed', 'Correct the transform of the destination in the code, then replay the delivery.'],
  ['the stored delivery cannot be read', 'Its data in the store is damaged, so it cannot be replayed.'],
  ['destination removed', 'Create a destination with this name, then replay the delivery.'],
  ['endpoint disabled', 'Enable the endpoint on the page of the destination, then replay the delivery.'],
  [
    'endpoint paused',
    'Its tenant paused the endpoint. The delivery is sent once the tenant resumes it in the portal. To send it earlier, enable the endpoint, then replay the delivery.',
  ],
  ['aborted by the receiver', 'The receiver asked not to get this message again (webhook-delivery: abort-message).'],
];

/** The last step: what comes next, or how it ended. */
export function DeliveryEnd({ delivery }: { delivery: Delivery }) {
  const { state, nextAttemptAt, attempts, reason } = delivery;
  const last = attempts.at(-1);
  switch (state) {
    case 'queued':
      return (
        <Step title="Queued" look="active">
          <p>The delivery is sent when its destination takes it.</p>
        </Step>
      );
    case 'delivering':
      return (
        <Step title="Being sent" look="active">
          <p>An attempt is in progress.</p>
        </Step>
      );
    case 'waiting':
      return (
        <Step title="Next attempt" at={nextAttemptAt} look="warn">
          <p>
            {nextAttemptAt !== undefined && nextAttemptAt > Date.now()
              ? 'The delivery waits until then.'
              : 'It is due.'}
          </p>
        </Step>
      );
    case 'delivered': {
      if (last?.results.length === 0) {
        return (
          <Step title="Nothing to send" look="calm">
            <p>The destination's transform dropped this message.</p>
          </Step>
        );
      }
      const duration = last?.results.find(({ outcome }) => outcome === 'success')?.duration;
      return (
        <Step title="Delivered" at={last && duration !== undefined ? last.startedAt + duration : undefined} look="good">
          <p>A receiver accepted it.</p>
        </Step>
      );
    }
    case 'dead': {
      const advice = ADVICE.find(([begin]) => reason?.startsWith(begin))?.[1];
      return (
        <Step title="Dead" look="bad">
          <p>
            <strong>
              <PlainText value={reason && toSentence(reason)} max={1_000} />
            </strong>
          </p>
          {advice && <p>{advice}</p>}
        </Step>
      );
    }
  }
}
