import { Button } from './button.component.js';
import { CopyButton } from './copy-button.component.js';
import { Dialog } from './dialog.component.js';

export interface GeneratedSecretProps {
  /** Kind of secret: "Secret" or "Write key". */
  what: string;
  secret: string;
  /** What the secret is used for. */
  advice: string;
  onClose: () => void;
}

/** Shows a generated secret, which the API answers only once: the Escape key does not close the dialog. */
export function GeneratedSecret({ what, secret, advice, onClose }: GeneratedSecretProps) {
  return (
    <Dialog title={`New ${what.toLowerCase()}`} onClose={() => undefined}>
      <p class="warning">Copy it now. It will not be shown again.</p>
      <div class="generated-secret">
        <code>{secret}</code>
        <CopyButton text={secret} what={what} />
      </div>
      <p class="hint">{advice}</p>
      <div class="actions">
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
