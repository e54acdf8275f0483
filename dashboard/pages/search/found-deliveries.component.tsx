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
  const [[field, value] = ['', '']] = Object.entries(query);
  const name = field.startsWith('field.') ? nameOfField(field) : nameOfField(field).toLowerCase();
  return (
    <section class="panel">
      <h2>
        Deliveries by {name}: <PlainText value={value} max={80} />
      </h2>
      {deliveries.length > 0 ? (
        <Table
          caption={`Deliveries by ${name}, the newest first`}
          columns={DELIVERY_COLUMNS}
          rows={deliveries}
          keyOf={({ id }) => id}
        />
      ) : (
        <p>None among the newest.</p>
      )}
      {more && (
        <p class="actions">
          <a href={hrefOf('deliveries', query)}>{deliveries.length > 0 ? 'Show all' : `Search all by ${name}`}</a>
        </p>
      )}
    </section>
  );
}
