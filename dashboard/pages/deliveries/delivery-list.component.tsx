import { useKeyset } from '../../api/keyset.hook.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { KeysetTable } from '../../components/table.component.js';
import { DELIVERY_COLUMNS } from './delivery-columns.component.js';
import { searchPortion, toFilter } from './delivery-filter.js';
import { FilterForm } from './filter-form.component.js';

/** Searches deliveries. */
export function DeliverySearch({ query }: { query: URLSearchParams }) {
  const filter = toFilter(query);
  const list = useKeyset((cursor, signal) => searchPortion(filter, cursor, signal), JSON.stringify(filter));
  return (
    <>
      <PageHeading title="Deliveries" />
      <FilterForm page="deliveries" filter={filter} list={list} />
      <KeysetTable
        list={list}
        caption="Deliveries, the newest first"
        columns={DELIVERY_COLUMNS}
        keyOf={({ id }) => id}
        empty={
          Object.keys(filter).length > 0 ? (
            <EmptyState title="No deliveries match.">
              <p>All fields must match exactly. Delivered and dead deliveries are kept for a limited time.</p>
            </EmptyState>
          ) : (
            <EmptyState title="No deliveries yet.">
              <p>They appear here once a source sends its first message.</p>
            </EmptyState>
          )
        }
      />
    </>
  );
}
