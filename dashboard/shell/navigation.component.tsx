import { signal } from '@preact/signals';

import { pages } from '../pages/pages.js';
import { hrefOf } from './hash.router.js';

/** Whether the navigation is open in a narrow window; a wide window always shows it. */
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
