import { ApiError, toSentence } from '../api/api.error.js';
import { Button } from './button.component.js';
import { showHidden } from './plain-text.util.js';

export interface ProblemProps {
  error: unknown;
  onRetry?: (() => void) | undefined;
  retryLabel?: string;
}

/** Says why something failed, at the place where it was requested. */
export function Problem({ error, onRetry, retryLabel = 'Try again' }: ProblemProps) {
  if (error === undefined) return null;
  const isFinal = error instanceof ApiError && [400, 404].includes(error.status); // the next answer is the same
  return (
    <div class="problem spread" role="alert">
      <p>{showHidden(toSentence(error))}</p>
      {onRetry && !isFinal && <Button onClick={onRetry}>{retryLabel}</Button>}
    </div>
  );
}
