import { signal } from '@preact/signals';

import { pages } from '../pages/pages.js';
import { hrefOf } from './hash.router.js';

/** Whether the navigation of a narrow window is open; a wide one always shows it. */
export const isMenuOpen = signal(false);

/** Links to all pages. */
export function Navigation({ current }: { current: string }) {
  return (
    <nav id="pages" class={isMenuOpen.value ? 'open' : undefined} aria-label="Pages">
      <ul>
        {pages.map(({ name, title }) => (
          <li key={name}>
            <a
              href={hrefOf(name)}
              aria-current={name === current ? 'page' : undefined}
              onClick={() => (isMenuOpen.value = false)}
            >
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
