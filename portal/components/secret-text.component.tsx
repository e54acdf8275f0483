import { words } from '../words/words.js';
import { CopyButton } from './copy-button.component.js';

/** A secret or key with its name; dots, if it is not shown. */
export function SecretText({ label, text }: { label: string; text: string | undefined }) {
  return (
    <div class="secret">
      <span class="secret-label">{label}</span>
      <div class="generated-secret">
        {text === undefined ? (
          <span class="muted">
            <span aria-hidden="true">••••••••••••••••</span>
            <span class="visually-hidden">{words.secret.hidden}</span>
          </span>
        ) : (
          <>
            <code>{text}</code>
            <CopyButton text={text} what={label} />
          </>
        )}
      </div>
    </div>
  );
}
