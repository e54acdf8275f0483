import { useRef, useState } from 'preact/hooks';

import { toSentence } from '../../api/api.error.js';
import type { Keyset } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { SelectField, TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { DELIVERED_TYPES } from '../../components/message-types.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { REASON_CLASSES, toReasonText } from '../../components/reason-classes.js';
import { DELIVERY_STATES } from '../../components/state-badge.component.js';
import { goTo, hrefOf } from '../../shell/hash.router.js';
import { searchFields } from '../../shell/session.state.js';
import { type DeliveryFilter, nameOfField } from './delivery-filter.js';
import { fromLocalTime, toLocalTime } from './local-time.util.js';

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

/** Form for a search; an error is shown at its field. The search is part of the hash, so it can be shared as a link. */
export function FilterForm({ page, filter, list: { error, reload } }: FilterFormProps) {
  const key = JSON.stringify(filter);
  const [typed, setTyped] = useState({ key, fields: filter });
  const draft = typed.key === key ? typed.fields : filter; // those typed for another search are given up
  const form = useRef<HTMLFormElement>(null);

  const field = (name: string, label: string) => ({
    label,
    value: draft[name] ?? '',
    error: error?.field === name ? toSentence(error) : undefined,
    onValue: (value: string) => setTyped({ key, fields: { ...draft, [name]: value } }),
  });
  const time = (name: string, label: string) => ({
    ...field(name, label),
    type: 'datetime-local' as const,
    value: name in draft && draft[name] === filter[name] ? toLocalTime(draft[name]) : (draft[name] ?? ''),
  });
  const timeOf = (name: string) => {
    const value = draft[name] ?? '';
    if (value !== filter[name]) return fromLocalTime(value);
    return toLocalTime(value) && value; // keeps the milliseconds, which the input does not have
  };

  return (
    <Form
      class="panel filter-form"
      role="search"
      noValidate
      formRef={form}
      onSubmit={() => {
        // An incomplete time has an empty value: the search would match more than the form shows.
        const unread = [...form.current!.querySelectorAll('input')].find(({ validity }) => validity.badInput);
        if (unread) return void unread.reportValidity();
        const given = { ...draft, from: timeOf('from'), to: timeOf('to') };
        const href = hrefOf(page, given);
        if (href === location.hash) reload();
        else goTo(href);
      }}
    >
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
