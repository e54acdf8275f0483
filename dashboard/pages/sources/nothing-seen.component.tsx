import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { countOf } from '../../components/count.util.js';
import { HOUR } from '../../components/span.util.js';
import { Time } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { SourceFigures } from '../../../lib/webhook-destination/observe/relay-series.js';
import { refusedCount } from './source.answer.js';

/** Time between two readings, in ms. */
const EVERY = 10_000;

/**
 * Says why a source may seem to send nothing.
 *
 * @param since when it was created, in ms since the epoch
 */
export function NothingSeen({ since = 0 }: { since?: number | undefined }) {
  const { answer } = useAnswer(
    (signal, isPoll) => get<SourceFigures>('refusals/keyless', { signal, isPoll }),
    'keyless',
    EVERY,
  );
  if (!answer) return null;
  const count = (answer.lastSeenAt ?? 0) > since ? refusedCount(answer) : 0;
  return (
    <p class={count > 0 ? 'warn-text' : 'muted'}>
      Nothing with its write key arrived {since > Date.now() - 24 * HOUR ? 'since it was created' : 'in the last day'}.{' '}
      {count === 0 ? (
        'No request was refused for an unknown write key either: its clients do not reach the relay, or record nothing.'
      ) : (
        <>
          <a href={hrefOf('sources')}>{countOf(count, 'request', 'requests')} without a known write key</a> arrived, the
          last <Time at={answer.lastSeenAt} />: its clients may send a wrong or an old key.
        </>
      )}
    </p>
  );
}
