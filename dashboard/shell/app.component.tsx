import { GeneratedSecret } from '../components/generated-secret.dialog.js';
import { Notices } from '../components/notices.component.js';
import { session } from './session.state.js';
import { Shell } from './shell.component.js';
import { SignIn, SignInAgain } from './sign-in.component.js';

/** The sign-in form, or the pages. */
export function App() {
  const current = session.value;
  const ended = current.state === 'in' ? current.ended : undefined;
  return (
    <>
      {current.state === 'out' && <SignIn why={current.why} />}
      {current.state === 'in' && <Shell session={current} />}
      {ended !== undefined && <SignInAgain why={ended} />}
      {/* Opened again once the session has ended, as the dialog that opened last is above the others. */}
      <GeneratedSecret key={ended === undefined} />
      <Notices />
    </>
  );
}
