import type { DestinationTrend } from '../../../lib/webhook-destination/admin/api/destination.figures.js';
import { getPortion, useKeyset } from '../../api/keyset.hook.js';
import { CountLink } from '../../components/count-link.component.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { SelectField, TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { NameLink } from '../../components/name-link.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { useDraft } from '../../components/search-form.hook.js';
import { Sparkline } from '../../components/sparkline.component.js';
import { type Column, KeysetTable } from '../../components/table.component.js';
import { Duration } from '../../components/time.component.js';
import { goTo, hrefOf, replaceQuery } from '../../shell/hash.router.js';
import { whyNoEntries } from '../../shell/session.state.js';
import { type Destination, openOf } from './destination.answer.js';
import { HealthBadge, healthOf } from './health-badge.component.js';

const ORDERS = [
  ['health', 'Worst health'],
  ['failures', 'Most failures'],
  ['backlog', 'Most to deliver'],
  ['p95', 'Slowest p95'],
  ['name', 'Name'],
] as const;

/** All destinations. */
export function DestinationList({ query }: { query: URLSearchParams }) {
  const name = query.get('name') ?? '';
  const metadata = query.get('metadata') ?? '';
  const value = query.get('value') ?? '';
  const sort = query.get('sort') ?? 'health';
  const wanted = {
    ...(name !== '' && { name }),
    ...(metadata !== '' && value !== '' && { [`metadata.${metadata}`]: value }),
  };
  const isFiltered = Object.keys(wanted).length > 0;
  const filter = { ...wanted, sort };
  const list = useKeyset(
    (cursor, signal) => getPortion<Destination>('destinations', { ...filter, figures: 'true', cursor }, signal),
    JSON.stringify(filter),
  );
  // Between two pages, the figures may have changed.
  const rows = [...new Map(list.rows.map((row) => [row.name, row])).values()];
  return (
    <>
      <PageHeading title="Destinations">
        <Button onClick={list.reload}>Refresh</Button>
        <Button
          look="primary"
          changes
          disabledReason={whyNoEntries.value}
          onClick={() => goTo(hrefOf('destinations', { create: 'true' }))}
        >
          New destination
        </Button>
      </PageHeading>
      {whyNoEntries.value && <p class="hint">{whyNoEntries.value}</p>}
      <Filters filter={{ name, metadata, value }} sort={sort} />
      <KeysetTable
        list={{ ...list, rows }}
        caption="Destinations"
        keyOf={({ name }) => name}
        empty={
          <EmptyState title={isFiltered ? 'No destination has this name and metadata.' : 'No destinations yet.'}>
            {isFiltered ? (
              <a href={hrefOf('destinations')}>Show all destinations</a>
            ) : (
              !whyNoEntries.value && <p>Create one with “New destination”: a receiver, and the messages it gets.</p>
            )}
          </EmptyState>
        }
        columns={[
          {
            title: 'Name',
            cell: ({ name, urls }) => (
              <>
                <NameLink of="destinations" name={name} max={80} />
                <div class="second-line">
                  <Urls urls={urls} />
                </div>
              </>
            ),
          },
          { title: 'Health', cell: (destination) => <HealthBadge hold={destination} health={healthOf(destination)} /> },
          { title: 'Last hour', cell: ({ figures: { trend } }) => <Trend trend={trend} shows={sort} /> },
          {
            title: 'To deliver',
            isNumber: true,
            cell: ({ name, figures: { counts } }) => (
              <CountLink count={openOf(counts)} href={hrefOf('destinations', {}, name)} />
            ),
          },
          countColumn('Waiting', 'waiting'),
          countColumn('Dead', 'dead'),
          {
            title: 'Failed, last hour',
            isNumber: true,
            cell: ({ name, figures }) => (
              <CountLink
                count={figures.recent.failed}
                href={hrefOf('overview', { destination: name, period: 'hour' })}
              />
            ),
          },
          { title: 'p50', isNumber: true, cell: ({ figures }) => <Duration ms={figures.p50} /> },
          { title: 'p95', isNumber: true, cell: ({ figures }) => <Duration ms={figures.p95} /> },
          { title: 'Set in', cell: ({ origin }) => (origin === 'fixed' ? 'code' : origin) },
        ]}
      />
    </>
  );
}

function countColumn(title: string, state: 'waiting' | 'dead'): Column<Destination> {
  return {
    title,
    isNumber: true,
    cell: ({ name, figures }) => (
      <CountLink count={figures.counts[state]} href={hrefOf('deliveries', { state, destination: name })} />
    ),
  };
}

/** @param shows order of the list: one by duration has the durations */
function Trend({ trend, shows }: { trend: DestinationTrend; shows: string }) {
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0).toLocaleString();
  if (shows === 'p95') return <Sparkline label="p95 of the last hour" lines={[{ values: trend.p95, look: 'warn' }]} />;
  return (
    <Sparkline
      label={`Last hour: ${total(trend.delivered)} delivered, ${total(trend.failed)} failed attempts`}
      lines={[
        { values: trend.delivered, look: 'good' },
        { values: trend.failed, look: 'bad' },
      ]}
    />
  );
}

function Urls({ urls: [first, ...others] }: { urls: string[] }) {
  return (
    <>
      <PlainText value={first} max={40} /> {others.length > 0 && `+${others.length}`}
    </>
  );
}

interface FiltersProps {
  filter: { name: string; metadata: string; value: string };
  sort: string;
}

/** Searches when the form is submitted, rather than with each letter. */
function Filters({ filter, sort }: FiltersProps) {
  const [{ name, metadata, value }, type] = useDraft(filter);
  return (
    <Form class="panel filters" onSubmit={() => replaceQuery({ name, metadata, value, sort })}>
      <SelectField
        label="Order"
        value={sort}
        options={ORDERS}
        onValue={(order) => replaceQuery({ ...filter, sort: order })}
      />
      <TextField label="Name" value={name} onValue={(name) => type({ name })} placeholder="or a part of it" />
      <TextField
        label="Metadata"
        value={metadata}
        onValue={(metadata) => type({ metadata })}
        placeholder="tenant"
        isRequired={value !== ''}
      />
      <TextField
        label="Metadata value"
        value={value}
        onValue={(value) => type({ value })}
        isRequired={metadata !== ''}
      />
      <div class="actions">
        <Button type="submit" look="primary">
          Search
        </Button>
        {(filter.name !== '' || filter.metadata !== '') && <a href={hrefOf('destinations', { sort })}>Clear</a>}
      </div>
    </Form>
  );
}
