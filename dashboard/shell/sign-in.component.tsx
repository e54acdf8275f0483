import { useEffect, useRef, useState } from 'preact/hooks';

import { type ApiError, toSentence } from '../api/api.error.js';
import { useChange } from '../api/change.hook.js';
import { Button } from '../components/button.component.js';
import { Dialog } from '../components/dialog.component.js';
import { TextField } from '../components/field.component.js';
import { Form } from '../components/form.component.js';
import { toDuration } from '../components/time.component.js';
import { restoreSession, signIn, signsInBy } from './session.state.js';

/** Asks for a token; with the application's guard, says why the guard refuses. */
export function SignIn({ why }: { why: string | undefined }) {
  useEffect(() => {
    document.title = 'Sign in · Analytics relay';
  }, []);
  return (
    <main class="sign-in">
      <h1>Analytics relay</h1>
      <Entrance why={why} />
    </main>
  );
}

/** Asks for a token once the session has ended. It hides the page, which stays with what was typed. */
export function SignInAgain({ why }: { why: string }) {
  return (
    <Dialog title="Analytics relay" isOpaque onClose={() => undefined}>
      <Entrance why={why} />
      <p class="hint">What you have typed on the page is not lost.</p>
    </Dialog>
  );
}

function Entrance({ why }: { why: string | undefined }) {
  return (
    <>
      {why !== undefined && (
        <p class="problem" role="alert">
          {why}
        </p>
      )}
      {signsInBy === 'token' ? <TokenForm /> : <Button onClick={() => void restoreSession()}>Try again</Button>}
    </>
  );
}

function TokenForm() {
  const [token, setToken] = useState('');
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const { run, isBusy, error } = useChange(async () => {
    try {
      await signIn(token.trim());
    } catch (fault) {
      form.current?.querySelector('input')?.select();
      throw fault;
    }
  });
  return (
    <Form formRef={form} onSubmit={run}>
      <TextField
        label="Admin token"
        hint="A token of the application's option admin. With a read-only token, the session is read-only."
        type="password"
        autocomplete="current-password"
        value={token}
        error={error && toReason(error)}
        isRequired
        onValue={setToken}
      />
      <Button type="submit" look="primary" isBusy={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </Button>
    </Form>
  );
}

function toReason(error: ApiError): string {
  if (error.status === 401) return 'This token is wrong.';
  if (error.status !== 429) return toSentence(error);
  return `Too many wrong tokens. Try again in ${toDuration((error.retryAfter ?? 60) * 1_000)}.`;
}
