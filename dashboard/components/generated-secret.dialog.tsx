import { signal } from '@preact/signals';

import { Button } from './button.component.js';
import { CopyButton } from './copy-button.component.js';
import { Dialog } from './dialog.component.js';
import { type EntryKind, SECRETS } from './secret-kinds.js';

interface Generated {
  kind: EntryKind;
  secret: string;
  onStored?: (() => void) | undefined;
}

const generated = signal<Generated | undefined>();

/**
 * Shows a generated secret, which the API answers only once. It stays until it has been stored, even if the session ends
 * or another page is opened.
 */
export function showSecret(kind: EntryKind, secret: string, onStored?: () => void): void {
  // Once the form has closed, so that the focus returns to where it was before the form.
  setTimeout(() => (generated.value = { kind, secret, onStored }));
}

/** The secret of `showSecret`. The Escape key does not close the dialog. */
export function GeneratedSecret() {
  if (!generated.value) return null;
  const { kind, secret, onStored } = generated.value;
  const { name, use } = SECRETS[kind];
  const close = () => {
    generated.value = undefined;
    onStored?.();
  };
  return (
    <Dialog title={`New ${name.toLowerCase()}`} onClose={() => undefined}>
      <p class="warning">Copy it now. It will not be shown again.</p>
      <div class="generated-secret">
        <code>{secret}</code>
        <CopyButton text={secret} what={name} />
      </div>
      <p class="hint">{use}</p>
      <div class="actions">
        <Button look="primary" onClick={close}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
