import { useEffect, useState } from 'preact/hooks';

import type { ReplayProgress } from '../../../lib/webhook-destination/admin/api/replay.jobs.js';
import { get, path, request } from '../../api/api.client.js';
import { toSentence } from '../../api/api.error.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Button } from '../../components/button.component.js';
import { Facts } from '../../components/facts.component.js';
import { notify } from '../../components/notice.state.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Problem } from '../../components/problem.component.js';
import { DELIVERY_STATES, StateBadge } from '../../components/state-badge.component.js';
import { Time, toDuration } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { FilterFacts } from './filter-facts.component.js';
import { REPLAY_WORDS } from './replay-words.js';

/** Time between two readings of the progress, in ms. */
const EVERY = 500;

const SKIPPED = ': replayed or removed by someone else in the meantime';

/** A bulk replay: its progress, and of which deliveries it is. */
export function ReplayView({ id }: { id: string }) {
  const [isRunning, setRunning] = useState(true);
  const load = (signal: AbortSignal, isPoll: boolean) => get<ReplayProgress>(path`replays/${id}`, { signal, isPoll });
  const { answer, error, reload } = useAnswer(load, id, isRunning ? EVERY : undefined);
  const state = answer?.state;
  const isGone = error?.status === 404;
  useEffect(() => setRunning(!isGone && (state ?? 'running') === 'running'), [state, isGone]);
  const cancel = async () => {
    try {
      await request('DELETE', path`replays/${id}`);
      notify('The replay has been cancelled. Deliveries already replayed stay replayed.');
    } catch (fault) {
      notify(toSentence(fault), 'failed');
    }
    reload();
  };
  return (
    <>
      <PageHeading title="Replay">
        {state === 'running' && (
          <Button changes look="danger" onClick={() => void cancel()}>
            Cancel the replay
          </Button>
        )}
      </PageHeading>
      <Problem error={error} onRetry={reload} />
      {error?.code === 'replay_unknown' && (
        <p class="hint">A replay is known until the process that started it ends.</p>
      )}
      {answer && <Progress progress={answer} />}
      {answer && <Scope query={answer.query} />}
    </>
  );
}

/** Which deliveries are replayed, with links to what became of them. */
function Scope({ query: { state: from, ...filter } }: Pick<ReplayProgress, 'query'>) {
  return (
    <section class="panel">
      <h2>Deliveries that were {from}</h2>
      <FilterFacts state={from} filter={filter} />
      <p class="actions">
        What matches now, by state:
        {DELIVERY_STATES.map(([state]) => (
          <a key={state} href={hrefOf('deliveries', { ...filter, reason: undefined, state })}>
            {state === 'dead' && from === 'dead' ? 'dead again' : state}
          </a>
        ))}
      </p>
    </section>
  );
}

function Progress({ progress }: { progress: ReplayProgress }) {
  const { state, query, total, done, left, skipped, rate, timeLeft, startedAt, endedAt, error } = progress;
  const words = REPLAY_WORDS[query.state];
  return (
    <section class="panel" aria-label="Progress">
      <progress max={Math.max(total, 1)} value={total === 0 ? 1 : total - left} aria-label="Replayed deliveries" />
      <Facts
        facts={[
          [
            'State',
            <span role="status">
              <StateBadge state={state} />
            </span>,
          ],
          [words.progress, `${done.toLocaleString()} of ${total.toLocaleString()}`, 'number'],
          ['Left', left.toLocaleString(), 'number'],
          ['Skipped', skipped.toLocaleString() + (skipped > 0 ? SKIPPED : ''), 'number'],
          ['Rate', rate === undefined ? 'as many as the relay takes' : `${rate.toLocaleString()} per second`, 'number'],
          ['Time left', timeLeft === undefined ? undefined : `about ${toDuration(timeLeft)}`, 'number'],
          ['Started', <Time at={startedAt} />],
          ['Ended', endedAt && <Time at={endedAt} />],
        ]}
      />
      {(state === 'cancelled' || state === 'failed') && left > 0 && <p>{words.rest}</p>}
      {error !== undefined && (
        <p class="warn-text">
          Error: <PlainText value={error} max={1_000} />
        </p>
      )}
    </section>
  );
}
