import { toSentence } from '../api/api.error.js';
import { Button } from '../components/button.component.js';
import { notify } from '../components/notice.state.js';
import { PlainText } from '../components/plain-text.component.js';
import { isMenuOpen } from './navigation.component.js';
import { type Session, signOut, signsInBy } from './session.state.js';
import { SearchBox } from './search-box.component.js';
import { setTheme, theme, THEMES } from './theme.state.js';

const THEME_NAMES = { system: 'Auto', light: 'Light', dark: 'Dark' };

/** Name, search, access, theme and sign-out. */
export function TopBar({ session }: { session: Session & { state: 'in' } }) {
  const leave = () => signOut().catch((error: unknown) => notify(toSentence(error), 'failed'));
  return (
    <header class="top-bar">
      <button
        type="button"
        class="button quiet menu-button"
        aria-expanded={isMenuOpen.value}
        aria-controls="pages"
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
      {session.user !== undefined && <PlainText value={session.user} max={60} />}
      <select
        aria-label="Theme"
        value={theme.value}
        onChange={({ currentTarget }) => setTheme(THEMES.find((name) => name === currentTarget.value) ?? 'system')}
      >
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {THEME_NAMES[name]}
          </option>
        ))}
      </select>
      {signsInBy === 'token' && <Button onClick={() => void leave()}>Sign out</Button>}
    </header>
  );
}
