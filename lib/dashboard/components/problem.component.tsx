import { toSentence } from '../api/api.error.js';
import { Button } from './button.component.js';
import { showHidden } from './plain-text.util.js';

/** Why something failed, where it was asked for. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  if (error === undefined) return null;
  return (
    <div class="problem" role="alert">
      <p>{showHidden(toSentence(error))}</p>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
