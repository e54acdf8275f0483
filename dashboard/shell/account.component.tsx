import { toSentence } from '../api/api.error.js';
import { Button } from '../components/button.component.js';
import { notify } from '../components/notice.state.js';
import { PlainText } from '../components/plain-text.component.js';
import { hrefOf } from './hash.router.js';
import { type Session, signOut, signsInBy } from './session.state.js';
import { setTheme, theme, THEMES } from './theme.state.js';

const THEME_NAMES = { system: 'Auto theme', light: 'Light theme', dark: 'Dark theme' };

/** Who is signed in, with the theme and sign-out. */
export function Account({ session: { user } }: { session: Session & { state: 'in' } }) {
  const leave = () => signOut().catch((error: unknown) => notify(toSentence(error), 'failed'));
  return (
    <section class="account" aria-label="Session">
      {user !== undefined && <PlainText value={user} max={60} href={hrefOf('activity', { who: user })} />}
      <div class="actions">
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
      </div>
    </section>
  );
}
