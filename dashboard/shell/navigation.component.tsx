import { signal } from '@preact/signals';

import type { Page } from '../pages/page.interface.js';
import { pages } from '../pages/pages.js';
import { hrefOf } from './hash.router.js';

/** Whether the navigation is open in a narrow window; a wide window always shows it. */
export const isMenuOpen = signal(false);

const isListed = ({ isUnlisted }: Page) => !isUnlisted;

/** Links to all pages but those that the top bar opens. */
export function Navigation({ current }: { current: string }) {
  return (
    <nav aria-label="Pages">
      <ul>
        {pages.filter(isListed).map(({ name, title }) => (
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
