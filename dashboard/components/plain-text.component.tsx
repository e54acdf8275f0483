import { toPlainText } from './plain-text.util.js';

export interface PlainTextProps {
  value: unknown;
  max?: number | undefined;
  /** Makes the value a link. */
  href?: string | undefined;
}

/** An untrusted value, cut after `max` characters. */
export function PlainText({ value, max, href }: PlainTextProps) {
  if (value === undefined || value === null || value === '') return <None />;
  const text = <bdi class="plain-text">{toPlainText(value, max)}</bdi>;
  return href === undefined ? text : <a href={href}>{text}</a>;
}

/** In place of a value that is absent. */
export function None() {
  return <span class="muted none">–</span>;
}
