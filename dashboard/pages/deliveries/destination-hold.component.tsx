import { get, path } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { countOf } from '../../components/count.util.js';
import { paceText } from '../../components/pace.util.js';
import { toClock, toDuration } from '../../components/time.component.js';
import { type Destination, isAtLimit, openOf } from '../destinations/destination.answer.js';

/** Time between two readings of the destination, in ms. */
const EVERY = 5_000;

/** Says why the destination sends nothing now, or that it does not exist; renders nothing if it sends. */
export function DestinationHold({ destination }: { destination: string }) {
  const load = (signal: AbortSignal, isPoll: boolean) =>
    get<Destination>(path`destinations/${destination}`, { query: { figures: 'true' }, signal, isPoll });
  const { answer, error } = useAnswer(load, destination, EVERY);
  const text = answer ? whyHeld(answer) : error?.status === 404 && 'This destination is no longer in use.';
  return text && <p class="warn-text">{text}</p>;
}

function whyHeld({ enabled, paused, disabled, rateLimit, urls, figures }: Destination): string | undefined {
  if (disabled?.reason === 'paused') {
    return 'Its tenant paused the endpoint: its deliveries are sent once the tenant resumes it.';
  }
  if (disabled) return 'The endpoint is disabled: its deliveries become dead without an attempt.';
  if (!enabled) return 'The destination is disabled: its deliveries wait until it is enabled.';
  if (paused) return 'The destination is paused: its deliveries wait until it is resumed.';
  if (figures.heldUntil !== undefined)
    return `The receiver asked for no requests until ${toClock(figures.heldUntil)} (Retry-After): its deliveries wait.`;
  if (figures.down)
    return 'The destination is down: one delivery probes it, and the others wait for a probe that succeeds, or for the end of their retry window.';
  if (rateLimit && isAtLimit({ rateLimit, figures })) {
    const { counts, perMinute } = figures;
    const pace = paceText({ open: openOf(counts), perMinute, urls: urls.length, rateLimit });
    return `The destination has a backlog: it is ${pace}.`;
  }
  if (rateLimit) {
    return `The destination takes ${countOf(rateLimit.requests, 'request', 'requests')} in ${toDuration(rateLimit.per)} from each process: the others wait.`;
  }
  return undefined;
}
