import { toPlainText } from './plain-text.util.js';

/** An untrusted value, cut after `max` characters. */
export function PlainText({ value, max }: { value: unknown; max?: number | undefined }) {
  if (value === undefined || value === null || value === '') return <span class="muted">–</span>;
  return <bdi class="plain-text">{toPlainText(value, max)}</bdi>;
}
