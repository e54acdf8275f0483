import type { Keyset } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { SelectField, TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { DELIVERED_TYPES } from '../../components/message-types.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { REASON_CLASSES, toReasonText } from '../../components/reason-classes.js';
import { useSearchForm } from '../../components/search-form.hook.js';
import { DELIVERY_STATES } from '../../components/state-badge.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { searchFields } from '../../shell/session.state.js';
import { type DeliveryFilter, nameOfField } from './delivery-filter.js';

/** Fields under "More fields". */
const MORE = ['eventStart', 'anonymousId', 'messageId', 'source', 'type', 'release', 'reason', 'status', 'from', 'to'];

const optionsOf = (values: string[]) => [['', 'Any'], ...values.map((value) => [value, value])] as [string, string][];

/** Returns the fields of messages: those found at once, and others that the filter has. */
function bodyFieldsOf(filter: DeliveryFilter): string[] {
  const given = Object.keys(filter).filter((name) => name.startsWith('field.'));
  return [...new Set([...searchFields.value.map((name) => `field.${name}`), ...given])];
}

/** @param given reason of the filter: a class, or an exact reason */
function reasonOptions(given = ''): (readonly [string, string])[] {
  const names = Object.keys(REASON_CLASSES);
  const all = ['', ...names, ...(given === '' || names.includes(given) ? [] : [given])];
  return all.map((name) => [name, name === '' ? 'Any' : toPlainText(toReasonText(name), 80)]);
}

export interface FilterFormProps {
  /** Name of the page; all dead deliveries have the same state. */
  page: 'deliveries' | 'dead';
  filter: DeliveryFilter;
  /** Deliveries found with this filter. */
  list: Keyset<unknown>;
}

/** Form for a search, which is part of the hash, so it can be shared as a link. */
export function FilterForm({ page, filter, list }: FilterFormProps) {
  const { draft, field, time, form } = useSearchForm(page, filter, list);
  return (
    <Form {...form}>
      <div class="filters">
        {page === 'deliveries' && (
          <SelectField {...field('state', 'State')} options={[['', 'Any'], ...DELIVERY_STATES]} />
        )}
        <TextField {...field('userId', 'User')} />
        <TextField {...field('event', 'Event')} />
        <TextField {...field('destination', 'Destination')} />
        {bodyFieldsOf(filter).map((name) => (
          <TextField key={name} {...field(name, nameOfField(name))} />
        ))}
        <div class="actions">
          <Button type="submit" look="primary">
            Search
          </Button>
          {Object.keys(filter).length > 0 && <a href={hrefOf(page)}>Clear</a>}
        </div>
      </div>
      <details open={MORE.some((name) => name in filter)}>
        <summary>More fields</summary>
        <div class="filters">
          {['eventStart', 'anonymousId', 'messageId'].map((name) => (
            <TextField key={name} {...field(name, nameOfField(name))} />
          ))}
          <TextField {...field('source', 'Source')} />
          <SelectField {...field('type', 'Type')} options={optionsOf(DELIVERED_TYPES)} />
          <TextField {...field('release', 'Release')} />
          <SelectField {...field('reason', 'Reason (if dead)')} options={reasonOptions(draft.reason)} />
          <TextField {...field('status', nameOfField('status'))} placeholder="404" />
          <TextField {...time('from', 'Accepted from')} />
          <TextField {...time('to', 'Accepted before')} />
        </div>
      </details>
    </Form>
  );
}
