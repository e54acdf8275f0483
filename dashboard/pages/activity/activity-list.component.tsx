import { get } from '../../api/api.client.js';
import { type Keyset, PAGE_ROWS, useKeyset } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { useSearchForm } from '../../components/search-form.hook.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { type Column, KeysetTable } from '../../components/table.component.js';
import { TimeAndAge } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { toFilter } from '../deliveries/delivery-filter.js';
import { type ActivityEntry, callerOf, hrefOfTarget } from './activity.entry.js';

const COLUMNS: Column<ActivityEntry>[] = [
  {
    title: 'What',
    cell: ({ id, action, count = 1 }) => (
      <>
        <PlainText value={action} max={80} href={hrefOf('activity', {}, id)} />
        {count > 1 && <div class="second-line">{count.toLocaleString()} times</div>}
      </>
    ),
  },
  {
    title: 'About',
    cell: (entry) => (
      <PlainText value={entry.deletion ? 'deletion' : entry.target} max={60} href={hrefOfTarget(entry)} />
    ),
  },
  { title: 'Result', cell: ({ result }) => <StateBadge state={result} /> },
  {
    title: 'Who',
    cell: (entry) => (
      <PlainText value={callerOf(entry)} max={60} href={entry.user && hrefOf('activity', { who: entry.user })} />
    ),
  },
  {
    title: 'Address',
    cell: ({ address }) => (
      <PlainText value={address} max={60} href={address && hrefOf('activity', { who: address })} />
    ),
  },
  { title: 'When', cell: ({ at }) => <TimeAndAge at={at} /> },
];

/** Searches the activity. */
export function ActivityList({ query }: { query: URLSearchParams }) {
  const filter = toFilter(query);
  const list = useKeyset(async (cursor, signal) => {
    const asked = { limit: PAGE_ROWS, ...filter, cursor };
    const answer = await get<{ entries: ActivityEntry[]; cursor?: string }>('activity', { query: asked, signal });
    return { rows: answer.entries, cursor: answer.cursor };
  }, JSON.stringify(filter));
  return (
    <>
      <PageHeading title="Activity">
        <Button onClick={list.reload}>Refresh</Button>
      </PageHeading>
      <ActivityFilter filter={filter} list={list} />
      <KeysetTable
        list={list}
        caption="Activity, the newest first"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="No activity matches.">
            <p>
              Sign-ins, changes, replays, deletions and refusals are kept for 90 days.{' '}
              {Object.keys(filter).length > 0 && <a href={hrefOf('activity')}>Clear the search</a>}
            </p>
          </EmptyState>
        }
      />
    </>
  );
}

function ActivityFilter({ filter, list }: { filter: Record<string, string>; list: Keyset<unknown> }) {
  const { field, time, form } = useSearchForm('activity', filter, list);
  return (
    <Form {...form}>
      <div class="filters">
        <TextField {...field('what', 'What')} placeholder="user.delete" />
        <TextField {...field('who', 'Who')} placeholder="name or address" />
        <TextField {...field('target', 'About')} placeholder="name or id" />
        <TextField {...field('userId', 'Deleted user')} placeholder="exact user id" />
        <TextField {...time('from', 'From')} />
        <TextField {...time('to', 'Before')} />
        <div class="actions">
          <Button type="submit" look="primary">
            Search
          </Button>
          {Object.keys(filter).length > 0 && <a href={hrefOf('activity')}>Clear</a>}
        </div>
      </div>
    </Form>
  );
}
