import { PlainText } from '../../components/plain-text.component.js';
import { Table } from '../../components/table.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { DELIVERY_COLUMNS } from '../deliveries/delivery-columns.component.js';
import { nameOfField } from '../deliveries/delivery-filter.js';
import type { DeliverySummary } from '../deliveries/delivery.answer.js';

export interface FoundDeliveriesProps {
  query: Record<string, string>;
  deliveries: DeliverySummary[];
  more: boolean;
}

/** Deliveries that have the text in one field. */
export function FoundDeliveries({ query, deliveries, more }: FoundDeliveriesProps) {
  const name = nameOfQuery(query);
  return (
    <section class="panel">
      <h2>
        Deliveries by {name}: <PlainText value={Object.values(query)[0]} max={80} />
      </h2>
      <Table
        caption={`Deliveries by ${name}, the newest first`}
        columns={DELIVERY_COLUMNS}
        rows={deliveries}
        keyOf={({ id }) => id}
      />
      {more && (
        <p class="actions">
          <a href={hrefOf('deliveries', query)}>Show all</a>
        </p>
      )}
    </section>
  );
}

/** Returns the name of the field that a query is about. */
export function nameOfQuery(query: FoundDeliveriesProps['query']): string {
  const [field = ''] = Object.keys(query);
  return field.startsWith('field.') ? nameOfField(field) : nameOfField(field).toLowerCase();
}
