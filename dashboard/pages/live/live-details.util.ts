import type { UrlResult } from '../../../lib/webhook-destination/queue/attempt-record.interface.js';
import type { LiveEvent } from '../../api/live.stream.js';
import { countOf } from '../../components/count.util.js';
import { toClock, toDuration } from '../../components/time.component.js';

/** Describes an event in a few words. */
export function toDetails(event: LiveEvent): string {
  const { attempt, nextAttemptAt, reason, message, destinations = [] } = event;
  switch (event.kind) {
    case 'message':
      return destinations.length === 0
        ? 'no destination gets it'
        : `for ${countOf(destinations.length, 'destination', 'destinations')}`;
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

function toResults({ results }: LiveEvent): string {
  if (Array.isArray(results) && results.length === 0) return 'nothing sent: dropped by the transform';
  const all = (Array.isArray(results) ? results : []) as UrlResult[];
  return all.map(({ status, error, duration }) => `${status ?? error ?? ''} in ${toDuration(duration)}`).join(', ');
}
