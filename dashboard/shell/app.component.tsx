import { GeneratedSecret } from '../components/generated-secret.dialog.js';
import { Notices } from '../components/notices.component.js';
import { session } from './session.state.js';
import { Shell } from './shell.component.js';
import { SignIn } from './sign-in.component.js';

/** The sign-in form, or the pages. */
export function App() {
  const current = session.value;
  return (
    <>
      {current.state === 'out' && <SignIn why={current.why} />}
      {current.state === 'in' && <Shell session={current} />}
      <GeneratedSecret />
      <Notices />
    </>
  );
}
