import { isMenuOpen } from './navigation.component.js';
import { SearchBox } from './search-box.component.js';
import type { Session } from './session.state.js';

/** Name, search and access. */
export function TopBar({ session }: { session: Session & { state: 'in' } }) {
  return (
    <header class="top-bar">
      <button
        type="button"
        class="button quiet menu-button"
        aria-expanded={isMenuOpen.value}
        aria-controls="side"
        onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
      >
        Menu
      </button>
      <span class="brand">Analytics relay</span>
      <SearchBox />
      {session.access === 'read' && (
        <span class="badge warn" title="This session cannot change anything.">
          Read-only
        </span>
      )}
    </header>
  );
}
