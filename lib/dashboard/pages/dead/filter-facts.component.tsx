import { Fragment } from 'preact';

import { PlainText } from '../../components/plain-text.component.js';
import { Time } from '../../components/time.component.js';
import type { DeliveryFilter } from '../deliveries/delivery-filter.js';

const NAMES: Record<string, string> = {
  destination: 'Destination',
  reason: 'Reason',
  userId: 'User',
  event: 'Event',
  messageId: 'Message id',
  source: 'Source',
  type: 'Type',
  from: 'Accepted from',
  to: 'Accepted before',
};

/** The fields of a filter, with their values. */
export function FilterFacts({ filter }: { filter: DeliveryFilter }) {
  const fields = Object.entries(NAMES).filter(([field]) => field in filter);
  if (fields.length === 0) return <p>All dead deliveries.</p>;
  return (
    <dl class="facts">
      {fields.map(([field, name]) => (
        <Fragment key={field}>
          <dt>{name}</dt>
          <dd>
            {field === 'from' || field === 'to' ? (
              <Time at={toTime(filter[field]!)} />
            ) : (
              <PlainText value={filter[field]} />
            )}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

function toTime(value: string): number {
  return /^\d+$/.test(value) ? Number(value) : Date.parse(value);
}
