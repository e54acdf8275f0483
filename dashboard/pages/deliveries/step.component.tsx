import type { ComponentChildren } from 'preact';

import { Ago, Time } from '../../components/time.component.js';

interface StepProps {
  title: string;
  /** Time of the step, in ms since the epoch; undefined if unknown. */
  at?: number | undefined;
  look?: 'good' | 'bad' | 'warn' | 'active' | 'calm';
  children?: ComponentChildren;
}

/** One step of the timeline. */
export function Step({ title, at, look = 'calm', children }: StepProps) {
  return (
    <li class={`step ${look}`}>
      <div class="step-head spread">
        <h3>{title}</h3>
        {at !== undefined && (
          <span class="hint">
            <Time at={at} look="exact" /> · <Ago at={at} />
          </span>
        )}
      </div>
      {children}
    </li>
  );
}
