import type { Explanation } from '../../lib/webhook-destination/message.explainer.js';
import { countOf } from './count.util.js';

/** How many destinations an explanation does not list. */
export function Unlisted({ left, ofOtherSources }: Pick<Explanation, 'left' | 'ofOtherSources'>) {
  return (
    <>
      {left > 0 && <p class="hint">{left.toLocaleString()} more destinations are not shown.</p>}
      {ofOtherSources > 0 && (
        <p class="hint">
          {countOf(ofOtherSources, 'destination takes', 'destinations take')} messages of other sources only.
        </p>
      )}
    </>
  );
}
