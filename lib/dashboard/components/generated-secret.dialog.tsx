import { Button } from './button.component.js';
import { CopyButton } from './copy-button.component.js';
import { Dialog } from './dialog.component.js';
import { type EntryKind, SECRETS } from './secret-kinds.js';

export interface GeneratedSecretProps {
  kind: EntryKind;
  secret: string;
  onClose: () => void;
}

/** Shows a generated secret, which the API answers only once: the Escape key does not close the dialog. */
export function GeneratedSecret({ kind, secret, onClose }: GeneratedSecretProps) {
  const { name, use } = SECRETS[kind];
  return (
    <Dialog title={`New ${name.toLowerCase()}`} onClose={() => undefined}>
      <p class="warning">Copy it now. It will not be shown again.</p>
      <div class="generated-secret">
        <code>{secret}</code>
        <CopyButton text={secret} what={name} />
      </div>
      <p class="hint">{use}</p>
      <div class="actions">
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
