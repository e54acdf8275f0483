import { useState } from 'preact/hooks';

import { getPortion, useKeyset } from '../../api/keyset.hook.js';
import { CountLink } from '../../components/count-link.component.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { type Column, KeysetTable } from '../../components/table.component.js';
import { goTo, hrefOf, replaceQuery } from '../../shell/hash.router.js';
import type { Destination } from './destination.answer.js';
import { HealthBadge } from './health-badge.component.js';

/** All destinations, sorted by name. */
export function DestinationList({ query }: { query: URLSearchParams }) {
  const name = query.get('name') ?? '';
  const field = query.get('metadata') ?? '';
  const value = query.get('value') ?? '';
  const filter = {
    ...(name !== '' && { name }),
    ...(field !== '' && value !== '' && { [`metadata.${field}`]: value }),
  };
  const isFiltered = Object.keys(filter).length > 0;
  const list = useKeyset(
    (cursor, signal) => getPortion<Destination>('destinations', { ...filter, figures: 'true', cursor }, signal),
    JSON.stringify(filter),
  );
  return (
    <>
      <PageHeading title="Destinations">
        <Button onClick={list.reload}>Refresh</Button>
        <Button look="primary" changes onClick={() => goTo(hrefOf('destinations', { create: 'true' }))}>
          New destination
        </Button>
      </PageHeading>
      <Filters key={JSON.stringify(filter)} name={name} field={field} value={value} />
      <KeysetTable
        list={list}
        caption="Destinations"
        keyOf={({ name }) => name}
        empty={
          <EmptyState title={isFiltered ? 'No destination has this name and metadata.' : 'No destinations yet.'}>
            {!isFiltered && <p>A destination is one receiver, with the messages it gets.</p>}
          </EmptyState>
        }
        columns={[
          {
            title: 'Name',
            cell: ({ name }) => <PlainText value={name} max={80} href={hrefOf('destinations', {}, name)} />,
          },
          { title: 'Health', cell: (destination) => <HealthBadge destination={destination} /> },
          {
            title: 'To deliver',
            isNumber: true,
            cell: ({ figures: { counts } }) =>
              ((counts.queued ?? 0) + (counts.delivering ?? 0) + (counts.waiting ?? 0)).toLocaleString(),
          },
          countColumn('Waiting', 'waiting'),
          countColumn('Dead', 'dead'),
          {
            title: 'Failed attempts, last hour',
            isNumber: true,
            cell: ({ figures }) => figures.recent.failed.toLocaleString(),
          },
          { title: 'URL', cell: ({ urls }) => <Urls urls={urls} /> },
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

function Urls({ urls: [first, ...others] }: { urls: string[] }) {
  return (
    <>
      <PlainText value={first} max={80} /> {others.length > 0 && <span class="muted">+{others.length}</span>}
    </>
  );
}

/** Searches when the form is submitted, rather than with each letter. */
function Filters(before: { name: string; field: string; value: string }) {
  const [name, setName] = useState(before.name);
  const [field, setField] = useState(before.field);
  const [value, setValue] = useState(before.value);
  return (
    <Form class="filters" onSubmit={() => replaceQuery({ name, metadata: field, value })}>
      <TextField label="Name" value={name} onValue={setName} placeholder="or a part of it" />
      <TextField label="Metadata" value={field} onValue={setField} placeholder="tenant" isRequired={value !== ''} />
      <TextField label="Metadata value" value={value} onValue={setValue} isRequired={field !== ''} />
      <div>
        <Button type="submit">Find</Button>
      </div>
    </Form>
  );
}
