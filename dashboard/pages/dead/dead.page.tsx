import { useState } from 'preact/hooks';

import { useKeyset } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { Problem } from '../../components/problem.component.js';
import { KeysetEnd } from '../../components/table.component.js';
import { hrefOf, type Route } from '../../shell/hash.router.js';
import { type DeliveryFilter, toFilter } from '../deliveries/delivery-filter.js';
import { FilterForm } from '../deliveries/filter-form.component.js';
import { countMatching, totalOf } from '../replays/matching-count.js';
import { ReplayManyDialog } from '../replays/replay-many.dialog.js';
import { REPLAY_WORDS } from '../replays/replay-words.js';
import { joinGroups } from './dead-groups.js';
import { GroupTable } from './group-table.component.js';

/** The dead deliveries that match, by destination and reason, with buttons to replay them. */
export default function DeadPage({ route: { query } }: { route: Route }) {
  const filter = toFilter(query);
  const [replayed, setReplayed] = useState<DeliveryFilter>();
  const load = (cursor: string | undefined, signal: AbortSignal) =>
    countMatching({ ...filter, state: 'dead' }, cursor, signal);
  const list = useKeyset(load, JSON.stringify(filter), Infinity);
  const { rows, error, isLoading, more, reload } = list;
  const count = totalOf(rows);
  const isFiltered = Object.keys(filter).length > 0;
  const isPart = isLoading || more !== undefined;
  return (
    <>
      <PageHeading title="Dead deliveries">
        <Button
          changes
          disabledReason={count > 0 ? undefined : isPart ? 'Counting has not finished.' : 'There is nothing to replay.'}
          onClick={() => setReplayed(filter)}
        >
          {isFiltered ? REPLAY_WORDS.dead.matching : REPLAY_WORDS.dead.all}
        </Button>
      </PageHeading>
      <FilterForm page="dead" filter={filter} list={list} />
      {count > 0 && <GroupTable groups={joinGroups(rows)} isPart={isPart} filter={filter} onReplay={setReplayed} />}
      {count === 0 && !isLoading && !error && !more && (
        <EmptyState title={isFiltered ? 'No dead deliveries match.' : 'No dead deliveries.'}>
          <p>
            A delivery is dead once the relay has given it up: all its URLs refused it, its retry window is over, its
            transform failed, its endpoint is disabled, or its destination was removed.{' '}
            {isFiltered ? <a href={hrefOf('dead')}>Clear the search</a> : 'There is nothing to do.'}
          </p>
        </EmptyState>
      )}
      <Problem error={error} onRetry={rows.length > 0 ? more : reload} />
      <KeysetEnd list={list} counted={count} />
      {replayed && <ReplayManyDialog state="dead" filter={replayed} onClose={() => setReplayed(undefined)} />}
    </>
  );
}
