import type { Attention } from '../../../lib/webhook-destination/admin/api/attention.routes.js';
import { countOf } from '../../components/count.util.js';
import { toPlainText } from '../../components/plain-text.util.js';
import type { Overview } from './overview.answer.js';

/** Maximum number of names in the sentence. */
const MAX_NAMES = 3;

/** The state of the relay in one sentence. */
export function Headline({ overview, attention }: { overview: Overview; attention: Attention }) {
  const { isBad, text } = sentenceOf(overview, attention);
  return <p class={isBad ? 'headline bad' : 'headline'}>{text}</p>;
}

function sentenceOf({ open, counts: all }: Overview, { counts, destinations }: Attention) {
  const { down = 0, failing = 0, degraded = 0, late = 0 } = counts;
  const fail = down + failing + degraded;
  if (fail + late > 0) {
    const named = destinations.filter(({ problem }) => (fail > 0 ? problem !== 'late' : true) && problem !== 'limited');
    const names = named.slice(0, MAX_NAMES).map(({ destination }) => toPlainText(destination, 60));
    const others = (fail || late) - names.length;
    const what = fail > 0 ? (fail === 1 ? 'fails' : 'fail') : fail + late === 1 ? 'is late' : 'are late';
    const more = others > 0 ? ` and ${others.toLocaleString()} more` : '';
    return {
      isBad: true,
      text: `${countOf(fail || late, 'destination', 'destinations')} ${what}: ${names.join(', ')}${more}.`,
    };
  }
  const { dead = 0 } = all;
  const except = dead === 0 ? '' : `, except ${countOf(dead, 'dead delivery', 'dead deliveries')}`;
  if (open === 0) return { isBad: dead > 0, text: `All is delivered${except}.` };
  return {
    isBad: dead > 0,
    text: `Nothing fails: ${countOf(open, 'delivery is', 'deliveries are')} on the way${except}.`,
  };
}
