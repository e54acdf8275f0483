import { useEffect, useState } from 'preact/hooks';

import { path } from '../../../dashboard/api/api.client.js';
import { useAnswer } from '../../../dashboard/api/answer.hook.js';
import { PAGE_ROWS, type Portion, useKeyset } from '../../../dashboard/api/keyset.hook.js';
import { EmptyState } from '../../../dashboard/components/empty-state.component.js';
import { SelectField, SuggestionField } from '../../../dashboard/components/field.component.js';
import { replaceQuery } from '../../../dashboard/shell/hash.router.js';
import type { DeliveryState, DeliverySummary, EndpointDetails } from '../../api/portal.answers.js';
import { get } from '../../api/portal.client.js';
import { Button } from '../../components/button.component.js';
import { Problem } from '../../components/problem.component.js';
import { words } from '../../words/words.js';
import { getEvents } from '../events/events.answer.js';
import { DeliveryRow } from './delivery-row.component.js';
import { ReplayDialog } from './replay.dialog.js';

const STATES: DeliveryState[] = ['waiting', 'active', 'delivered', 'dead'];

export interface DeliveryListProps {
  endpoint: EndpointDetails;
  /** Fields of the filter, of the hash. */
  query: URLSearchParams;
  onChanged: () => void;
}

/** What was sent to an endpoint, newest first. */
export function DeliveryList({ endpoint, query, onChanged }: DeliveryListProps) {
  const { id, counts } = endpoint;
  const filter = { state: query.get('state') ?? '', event: query.get('event') ?? '' };
  const list = useKeyset((cursor, signal) => load(id, filter, cursor, signal), JSON.stringify([id, filter]));
  const [isReplaying, setReplaying] = useState(false);
  const { rows, isLoading, error, more, reload } = list;
  const counted = JSON.stringify(counts);
  useEffect(() => {
    if (!isLoading && rows.length <= PAGE_ROWS) reload(); // more rows stay as they are, for the reader
  }, [counted]);
  const isFiltered = filter.state !== '' || filter.event !== '';
  return (
    <section class="deliveries">
      <div class="spread">
        <h2>{words.deliveries.title}</h2>
        <div class="actions">
          <Button isBusy={isLoading} onClick={reload}>
            {words.actions.refresh}
          </Button>
          <Button changes onClick={() => setReplaying(true)}>
            {words.deliveries.replayFailed}
          </Button>
        </div>
      </div>
      <Filter filter={filter} />
      {rows.length > 0 && (
        <ul class="rows" aria-label={words.deliveries.list} aria-busy={isLoading}>
          {rows.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} />
          ))}
        </ul>
      )}
      {rows.length === 0 && !isLoading && !error && (
        <EmptyState title={isFiltered ? words.deliveries.noMatchTitle : words.deliveries.emptyTitle}>
          <p>{isFiltered ? words.deliveries.noMatch : words.deliveries.empty}</p>
        </EmptyState>
      )}
      <Problem error={error} onRetry={rows.length > 0 ? more : reload} />
      <div class="keyset-end">
        {/* One button, so that the focus stays on it. */}
        {(more || (isLoading && rows.length > 0)) && !error && (
          <Button isBusy={isLoading} onClick={more}>
            {isLoading ? words.shell.loading : words.actions.more}
          </Button>
        )}
        <p class="hint" role="status">
          {isLoading ? '' : rows.length > 0 && words.deliveries.shown(rows.length, !more)}
        </p>
      </div>
      {isReplaying && (
        <ReplayDialog
          endpoint={endpoint}
          onReplayed={() => {
            onChanged();
            reload();
          }}
          onClose={() => setReplaying(false)}
        />
      )}
    </section>
  );
}

interface DeliveryFilter {
  state: string;
  event: string;
}

function Filter({ filter }: { filter: DeliveryFilter }) {
  const [event, setEvent] = useState(filter.event);
  const { answer } = useAnswer(getEvents, '');
  const set = (fields: Partial<DeliveryFilter>) => replaceQuery({ ...filter, ...fields });
  return (
    <div class="filters" role="search" aria-label={words.deliveries.title}>
      <SelectField
        label={words.deliveries.state}
        value={filter.state}
        options={[['', words.deliveries.any], ...STATES.map((state) => [state, words.deliveryStates[state]] as const)]}
        onValue={(state) => set({ state })}
      />
      <SuggestionField
        label={words.deliveries.event}
        value={event}
        placeholder={words.deliveries.any}
        suggestions={answer?.events.map(({ name }) => name) ?? []}
        onTyped={setEvent}
        onValue={(value) => set({ event: value })}
      />
    </div>
  );
}

async function load(
  id: string,
  filter: DeliveryFilter,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Portion<DeliverySummary>> {
  const route = path`endpoints/${id}/deliveries`;
  const answer = await get<{ deliveries: DeliverySummary[]; cursor?: string }>(route, {
    query: { ...filter, cursor, limit: PAGE_ROWS },
    signal,
  });
  return { rows: answer.deliveries, cursor: answer.cursor };
}
