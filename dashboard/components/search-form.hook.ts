import { useRef, useState } from 'preact/hooks';

import { toSentence } from '../api/api.error.js';
import type { Keyset } from '../api/keyset.hook.js';
import { goTo, hrefOf } from '../shell/hash.router.js';
import { fromLocalTime, toLocalTime } from './local-time.util.js';

/** Fields of a search by name, as the query of its page has them. */
type Filter = Record<string, string>;

/** Returns what is typed in a form, at first the filter, and what changes it. What was typed for another is given up. */
export function useDraft<F extends object>(filter: F): [draft: F, type: (fields: Partial<F>) => void] {
  const key = JSON.stringify(filter);
  const [typed, setTyped] = useState({ key, fields: filter });
  const draft = typed.key === key ? typed.fields : filter;
  return [draft, (fields) => setTyped({ key, fields: { ...draft, ...fields } })];
}

/** A form for a search with the times `from` and `to`; an error is shown at its field. */
export function useSearchForm(page: string, filter: Filter, { error, reload }: Keyset<unknown>) {
  const [draft, type] = useDraft(filter);
  const formRef = useRef<HTMLFormElement>(null);

  const field = (name: string, label: string) => ({
    label,
    value: draft[name] ?? '',
    error: error?.field === name ? toSentence(error) : undefined,
    onValue: (value: string) => type({ [name]: value }),
  });
  const time = (name: 'from' | 'to', label: string) => ({
    ...field(name, label),
    type: 'datetime-local' as const,
    value: name in draft && draft[name] === filter[name] ? toLocalTime(draft[name]) : (draft[name] ?? ''),
  });
  const timeOf = (name: 'from' | 'to') => {
    const value = draft[name] ?? '';
    if (value !== filter[name]) return fromLocalTime(value);
    return toLocalTime(value) && value; // keeps the milliseconds, which the input does not have
  };
  const onSubmit = () => {
    // An incomplete time has an empty value: the search would match more than the form shows.
    const unread = [...formRef.current!.querySelectorAll('input')].find(({ validity }) => validity.badInput);
    if (unread) return void unread.reportValidity();
    const href = hrefOf(page, { ...draft, from: timeOf('from'), to: timeOf('to') });
    if (href === location.hash) reload();
    else goTo(href);
  };
  return {
    draft,
    field,
    time,
    form: { class: 'panel filter-form', role: 'search', noValidate: true, formRef, onSubmit } as const,
  };
}
