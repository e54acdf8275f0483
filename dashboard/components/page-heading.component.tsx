import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

import { focusIfWanted } from '../shell/heading.focus.js';

/** The heading of a page; it receives the focus when the page is opened. */
export function PageHeading({ title, children }: { title: string; children?: ComponentChildren }) {
  useEffect(focusIfWanted, []);
  return (
    <div class="page-heading spread">
      <h1 tabIndex={-1}>{title}</h1>
      {children && <div class="actions">{children}</div>}
    </div>
  );
}
