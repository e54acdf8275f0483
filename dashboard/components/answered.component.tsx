import type { ComponentChildren } from 'preact';

import type { Loaded } from '../api/answer.hook.js';
import { Time } from './time.component.js';

export interface AnsweredProps {
  /** The answer that is shown. */
  from: Pick<Loaded<unknown>, 'error' | 'answeredAt'>;
  children: ComponentChildren;
}

/** What an answer shows. It looks stale, and says so, while no newer one can be read. */
export function Answered({ from: { error, answeredAt }, children }: AnsweredProps) {
  const isStale = error !== undefined && answeredAt !== undefined;
  return (
    <div class={isStale ? 'answered stale' : 'answered'}>
      {isStale && (
        <p class="stale-note">
          Not current: this was read at <Time at={answeredAt} look="time" />.
        </p>
      )}
      {children}
    </div>
  );
}
