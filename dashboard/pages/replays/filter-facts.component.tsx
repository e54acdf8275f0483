import type { ReplayableState } from '../../../lib/webhook-destination/queue/delivery.interface.js';
import { Facts } from '../../components/facts.component.js';
import { NameLink, type NameLinkProps } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { toReasonText } from '../../components/reason-classes.js';
import { Time } from '../../components/time.component.js';
import { type DeliveryFilter, fieldsOf, nameOfField } from '../deliveries/delivery-filter.js';
import { parseTime } from '../../components/local-time.util.js';

/** Pages of the fields whose values are names. */
const PAGES: Record<string, NameLinkProps['of'] | undefined> = {
  destination: 'destinations',
  source: 'sources',
  userId: 'users',
};

export interface FilterFactsProps {
  state: ReplayableState;
  filter: DeliveryFilter;
}

/** The fields of a filter, with their values. */
export function FilterFacts({ state, filter }: FilterFactsProps) {
  const fields = fieldsOf(filter);
  if (fields.length === 0) return <p>All {state} deliveries.</p>;
  return <Facts facts={fields.map((field) => [nameOfField(field), valueOf(field, filter[field]!)])} />;
}

function valueOf(field: string, value: string) {
  if (field === 'reason') return <PlainText value={toReasonText(value)} />;
  if (field === 'from' || field === 'to') return <Time at={parseTime(value)} />;
  const page = PAGES[field];
  return page ? <NameLink of={page} name={value} max={200} /> : <PlainText value={value} />;
}
