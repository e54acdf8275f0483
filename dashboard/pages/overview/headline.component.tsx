import { Fragment } from 'preact';

import type { Attention } from '../../../lib/webhook-destination/admin/api/attention.routes.js';
import { countOf } from '../../components/count.util.js';
import { NameLink } from '../../components/name-link.component.js';
import type { Overview } from './overview.answer.js';

/** Maximum number of names in the sentence. */
const MAX_NAMES = 3;

export interface HeadlineProps {
  overview: Overview;
  attention: Attention;
}

/** The state of the relay in one sentence. */
export function Headline({ overview, attention }: HeadlineProps) {
  const { down = 0, failing = 0, degraded = 0, late = 0 } = attention.counts;
  const fail = down + failing + degraded;
  const dead = overview.counts.dead ?? 0;
  if (fail + late === 0) return <p class={dead > 0 ? 'headline bad' : 'headline'}>{toSentence(overview.open, dead)}</p>;
  const ignored = fail > 0 ? ['late', 'limited'] : ['limited'];
  const named = attention.destinations.filter(({ problem }) => !ignored.includes(problem)).slice(0, MAX_NAMES);
  const others = (fail || late) - named.length;
  const verb = fail > 0 ? (fail === 1 ? 'fails' : 'fail') : late === 1 ? 'is late' : 'are late';
  return (
    <p class="headline bad">
      {countOf(fail || late, 'destination', 'destinations')} {verb}:{' '}
      {named.map(({ destination }, index) => (
        <Fragment key={destination}>
          {index > 0 && ', '}
          <NameLink of="destinations" name={destination} />
        </Fragment>
      ))}
      {others > 0 && ` and ${others.toLocaleString()} more`}.
    </p>
  );
}

function toSentence(open: number, dead: number): string {
  const except = dead === 0 ? '' : `, except ${countOf(dead, 'dead delivery', 'dead deliveries')}`;
  if (open === 0) return `All is delivered${except}.`;
  return `Nothing fails: ${countOf(open, 'delivery is', 'deliveries are')} on the way${except}.`;
}
