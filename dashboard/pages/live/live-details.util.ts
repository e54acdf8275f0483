import type { UrlResult } from '../../../lib/webhook-destination/queue/attempt-record.interface.js';
import { answerOf } from '../deliveries/attempt-answer.component.js';
import type { LiveEvent } from '../../api/live.stream.js';
import { countOf } from '../../components/count.util.js';
import { toClock, toDuration } from '../../components/time.component.js';

/** Describes an event in a few words. */
export function toDetails(event: LiveEvent): string {
  const { attempt, nextAttemptAt, reason, message, destinations = [], repeated = [] } = event;
  switch (event.kind) {
    case 'message': {
      if (destinations.length === 0) return 'no destination gets it';
      const text = `for ${destinationsOf(destinations)}`;
      return repeated.length === 0 ? text : `${text}; not sent again to ${destinationsOf(repeated)}`;
    }
    case 'duplicate':
      return `not sent again to ${destinationsOf(repeated)}`;
    case 'rejected':
      return String(message);
    case 'dead':
      return String(reason);
    case 'delivered':
      return `attempt ${String(attempt)}: ${toResults(event)}`;
    case 'retry':
      return `attempt ${String(attempt)}: ${toResults(event)}; next at ${toClock(Number(nextAttemptAt))}`;
  }
}

const destinationsOf = (names: string[]) => countOf(names.length, 'destination', 'destinations');

function toResults({ results }: LiveEvent): string {
  if (Array.isArray(results) && results.length === 0) return 'nothing sent: dropped by the transform';
  const all = (Array.isArray(results) ? results : []) as UrlResult[];
  return all
    .map(({ status, error, duration }) => `${answerOf({ status, error })} in ${toDuration(duration)}`)
    .join(', ');
}
