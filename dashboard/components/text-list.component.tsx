import type { ComponentChildren } from 'preact';

import { PlainText } from './plain-text.component.js';

export interface TextListProps {
  values: string[];
  max?: number;
  /** Returns what follows a value, after a colon. */
  after?: (value: string) => ComponentChildren;
}

/** A list of untrusted values. */
export function TextList({ values, max, after }: TextListProps) {
  return (
    <ul>
      {values.map((value) => (
        <li key={value}>
          <PlainText value={value} max={max} />
          {after && <>: {after(value)}</>}
        </li>
      ))}
    </ul>
  );
}
