import { useAnswer } from '../../dashboard/api/answer.hook.js';
import type { Session } from '../api/portal.answers.js';
import { get } from '../api/portal.client.js';
import { Problem } from '../components/problem.component.js';
import { words } from '../words/words.js';
import { accentColours } from './accent.util.js';
import { Ended } from './ended.component.js';
import { link } from './link.state.js';
import { session } from './session.state.js';
import { Shell } from './shell.component.js';

/** The pages, as long as there is a link. */
export function App() {
  const { token } = link.value;
  return token === undefined ? <Ended /> : <Opened key={token} token={token} />;
}

function Opened({ token }: { token: string }) {
  const { answer, error, reload } = useAnswer((signal) => openSession(signal), token);
  if (answer) return <Shell session={answer} />;
  return <main class="alone">{error ? <Problem error={error} onRetry={reload} /> : <p>{words.shell.loading}</p>}</main>;
}

async function openSession(signal: AbortSignal): Promise<Session> {
  const opened = await get<Session>('session', { signal });
  session.value = opened;
  applyAccent(opened.brand?.accent);
  return opened;
}

/** Sets the colour through the object model: the policy of the page forbids styles in its text. */
function applyAccent(accent: string | undefined): void {
  if (accent === undefined || !/^#[\da-f]{6}$/i.test(accent)) return;
  for (const [name, value] of Object.entries(accentColours(accent))) {
    document.documentElement.style.setProperty(name, value);
  }
}
