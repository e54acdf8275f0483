import { useState } from 'preact/hooks';

import type { ReplayProgress } from '../../../lib/webhook-destination/admin/api/replay.jobs.js';
import type { ReplayableState } from '../../../lib/webhook-destination/queue/delivery.interface.js';
import { request } from '../../api/api.client.js';
import { type ApiError, toSentence } from '../../api/api.error.js';
import { useKeyset } from '../../api/keyset.hook.js';
import { ChangeActions } from '../../components/form.dialog.js';
import { countOf } from '../../components/count.util.js';
import { Dialog } from '../../components/dialog.component.js';
import { TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { Problem } from '../../components/problem.component.js';
import { goTo, hrefOf } from '../../shell/hash.router.js';
import type { DeliveryFilter } from '../deliveries/delivery-filter.js';
import { DestinationHold } from '../deliveries/destination-hold.component.js';
import { countMatching, totalOf } from './matching-count.js';
import { FilterFacts } from './filter-facts.component.js';
import { REPLAY_WORDS } from './replay-words.js';

/** What a replay means, by the state of its deliveries. */
const EFFECTS: Record<ReplayableState, string[]> = {
  dead: [
    'Message ids stay the same, so receivers can deduplicate.',
    'Requests are signed with the current secrets.',
    'Each delivery gets a new retry window.',
  ],
  delivered: [
    'Message ids stay the same: receivers that deduplicate ignore them, all others process them twice.',
    'Requests are signed with the current secrets.',
    'Each delivery gets a new retry window.',
  ],
  waiting: ['Each attempt counts as a retry: the retry window goes on.'],
};

export interface ReplayManyDialogProps {
  state: ReplayableState;
  /** Further fields that the deliveries must have. */
  filter: DeliveryFilter;
  onClose: () => void;
}

/** Counts the deliveries to replay, shows their number, and starts the replay. */
export function ReplayManyDialog({ state, filter, onClose }: ReplayManyDialogProps) {
  const load = (cursor: string | undefined, signal: AbortSignal) => countMatching({ ...filter, state }, cursor, signal);
  const { rows, error, isLoading, more, reload } = useKeyset(load, JSON.stringify(filter), Infinity);
  const [rate, setRate] = useState('');
  const [refusal, setRefusal] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const count = totalOf(rows);
  const named = countOf(count, 'delivery', 'deliveries');
  const { title, start: labelOf, outcome } = REPLAY_WORDS[state];

  const start = async () => {
    setBusy(true);
    setRefusal(undefined);
    // Deliveries accepted after the count must not be replayed.
    const to = Math.max(0, ...rows.map(({ newest }) => newest ?? 0)) + 1;
    const query = { ...filter, state, to: String(to) };
    const body = { query, expected: count, ...(rate.trim() !== '' && { rate: Number(rate) }) };
    try {
      const { id } = await request<ReplayProgress>('POST', 'replays', { body });
      onClose();
      goTo(hrefOf('deliveries', {}, 'replays', id));
    } catch (fault) {
      setRefusal(fault as ApiError);
      setBusy(false);
      if ((fault as ApiError).code === 'expected_differs') reload();
    }
  };
  const hasChanged = refusal?.code === 'expected_differs';
  const isRateWrong = refusal?.code === 'rate_invalid';
  const disabledReason =
    isLoading || error ? 'Counting has not finished.' : count === 0 ? 'There is nothing to replay.' : undefined;
  return (
    <Dialog title={title} isBusy={isBusy} onClose={onClose}>
      <Form onSubmit={() => disabledReason === undefined && !isBusy && void start()}>
        <FilterFacts state={state} filter={filter} />
        <p role="status">{isLoading ? `Counting… ${count.toLocaleString()}` : error ? '' : `${named} ${outcome}`}</p>
        <ul class="bullets">
          {EFFECTS[state].map((text) => (
            <li key={text}>{text}</li>
          ))}
          <li>If the number changes before you confirm it, nothing is sent.</li>
        </ul>
        <TextField
          label="Deliveries per second"
          value={rate}
          onValue={setRate}
          hint="Empty: as many as the relay takes. Receivers that were down may not take all of them at once."
          error={isRateWrong ? toSentence(refusal) : undefined}
        />
        {filter.destination && <DestinationHold destination={filter.destination} />}
        <Problem error={error} onRetry={more} />
        <Problem error={isRateWrong || hasChanged ? undefined : refusal} />
        {hasChanged && (
          <p class="warning" role="alert">
            The number of deliveries had changed, so nothing was sent. Confirm the new number.
          </p>
        )}
        <ChangeActions isBusy={isBusy} disabledReason={disabledReason} onCancel={onClose}>
          {labelOf(isLoading || error ? 'deliveries' : named)}
        </ChangeActions>
      </Form>
    </Dialog>
  );
}
