import type { Fact } from './facts.component.js';
import { PlainText } from './plain-text.component.js';

/** How the API masks a value. */
export const MASK = '***';

/** Placeholder for a secret, which the API never shows. */
export function MaskedValue() {
  return (
    <span class="muted" title="Secrets are not shown.">
      <span aria-hidden="true">•••</span>
      <span class="visually-hidden">hidden</span>
    </span>
  );
}

/** Returns the headers of a request as facts; values are cut after `max` characters. */
export function headerFacts(headers: Record<string, string>, max?: number): Fact[] {
  return Object.entries(headers).map(([name, value]) => [
    name,
    value === MASK ? <MaskedValue /> : <PlainText value={value} max={max} />,
    'mono',
  ]);
}
