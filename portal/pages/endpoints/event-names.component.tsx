import { toPlainText } from '../../../dashboard/components/plain-text.util.js';
import { words } from '../../words/words.js';

/** Number of names that are shown. */
const SHOWN = 3;

/** The events that an endpoint gets; `max` names, default 3. */
export function EventNames({ events, max = SHOWN }: { events: string[] | null; max?: number }) {
  if (events === null) return <span>{words.endpoints.allEvents}</span>;
  const names = events.slice(0, max).map((name) => toPlainText(name, 80));
  const others = events.length - names.length;
  if (others > 0) return <bdi class="plain-text">{words.endpoints.moreEvents(names, others)}</bdi>;
  return <bdi class="plain-text">{names.length === 0 ? words.endpoints.noEvents : words.endpoints.events(names)}</bdi>;
}
