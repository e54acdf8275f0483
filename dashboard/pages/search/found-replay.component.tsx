import type { ReplayProgress } from '../../../lib/webhook-destination/admin/api/replay.jobs.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { REPLAY_WORDS } from '../replays/replay-words.js';

/** A bulk replay with the text as its id. */
export function FoundReplay({ replay: { id, state, query, done, total } }: { replay: ReplayProgress }) {
  return (
    <section class="panel">
      <h2>Replay</h2>
      <p>
        <a href={hrefOf('deliveries', {}, 'replays', id)}>Replay of {total.toLocaleString()} deliveries</a>{' '}
        <StateBadge state={state} /> {done.toLocaleString()} {REPLAY_WORDS[query.state].progress.toLowerCase()}
      </p>
    </section>
  );
}
