import { useState } from 'preact/hooks';

import type { ReplayProgress } from '../../../lib/webhook-destination/admin/api/replay.jobs.js';
import { request } from '../../api/api.client.js';
import { useKeyset } from '../../api/keyset.hook.js';
import { ChangeActions } from '../../components/change-actions.component.js';
import { countOf } from '../../components/count.util.js';
import { Dialog } from '../../components/dialog.component.js';
import { Problem } from '../../components/problem.component.js';
import { goTo, hrefOf } from '../../shell/hash.router.js';
import type { DeliveryFilter } from '../deliveries/delivery-filter.js';
import { countDead, totalOf } from './dead-groups.js';
import { FilterFacts } from './filter-facts.component.js';

/** Counts the deliveries to replay, shows their number, and starts the replay. */
export function ReplayManyDialog({ filter, onClose }: { filter: DeliveryFilter; onClose: () => void }) {
  const load = (cursor: string | undefined, signal: AbortSignal) => countDead(filter, cursor, signal);
  const { rows, error, isLoading, more, reload } = useKeyset(load, JSON.stringify(filter), Infinity);
  const [refusal, setRefusal] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const count = totalOf(rows);
  const named = countOf(count, 'delivery', 'deliveries');

  const start = async () => {
    setBusy(true);
    setRefusal(undefined);
    // Deliveries accepted after the count must not be replayed.
    const to = Math.max(0, ...rows.map(({ newest }) => newest ?? 0)) + 1;
    const query = { ...filter, to: String(to) };
    try {
      const { id } = await request<ReplayProgress>('POST', 'replays', { body: { query, expected: count } });
      onClose();
      goTo(hrefOf('dead', query, 'replays', id));
    } catch (fault) {
      setRefusal(fault);
      setBusy(false);
    }
  };
  const countAgain = () => {
    setRefusal(undefined);
    reload();
  };
  return (
    <Dialog title="Replay dead deliveries?" isBusy={isBusy} onClose={onClose}>
      <FilterFacts filter={filter} />
      <p role="status">
        {isLoading ? `Counting… ${count.toLocaleString()}` : error ? '' : `${named} will be sent again.`}
      </p>
      <ul class="bullets">
        <li>Message ids stay the same, so receivers can deduplicate.</li>
        <li>Requests are signed with the current secrets.</li>
        <li>Each delivery gets a new retry window.</li>
        <li>If the number has changed by then, nothing is replayed.</li>
      </ul>
      <Problem error={error} onRetry={more} />
      <Problem error={refusal} onRetry={countAgain} />
      <ChangeActions
        isBusy={isBusy}
        disabledReason={
          isLoading || error ? 'Counting has not finished.' : count === 0 ? 'There is nothing to replay.' : undefined
        }
        onClick={() => void start()}
        onCancel={onClose}
      >
        {isLoading || error ? 'Replay' : `Replay ${named}`}
      </ChangeActions>
    </Dialog>
  );
}
