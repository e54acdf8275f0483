import { ApiError, toSentence } from '../../dashboard/api/api.error.js';
import { showHidden } from '../../dashboard/components/plain-text.util.js';
import { words } from '../words/words.js';
import { Button } from './button.component.js';

export interface ProblemProps {
  error: unknown;
  onRetry?: (() => void) | undefined;
}

/** Says why something failed, at the place where it was requested. */
export function Problem({ error, onRetry }: ProblemProps) {
  if (error === undefined) return null;
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <div class="problem spread" role="alert">
      <p>{isGone ? words.errors.gone : showHidden(toSentence(error))}</p>
      {onRetry && !isGone && <Button onClick={onRetry}>{words.actions.retry}</Button>}
    </div>
  );
}
