import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

import { canChange } from '../shell/session.state.js';

export interface ButtonProps {
  children: ComponentChildren;
  onClick?: (() => void) | undefined;
  type?: 'button' | 'submit';
  look?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** The button changes something, so a read-only session cannot use it. */
  changes?: boolean;
  /** An answer is pending. */
  isBusy?: boolean;
  /** Why the button is disabled. */
  disabledReason?: string | undefined;
  label?: string | undefined;
}

const READ_ONLY = 'Your session is read-only.';

/** A button. A disabled one stays focusable and says why it is disabled. */
export function Button({
  children,
  onClick,
  type = 'button',
  look = 'plain',
  changes = false,
  isBusy = false,
  disabledReason,
  label,
}: ButtonProps) {
  const id = useId();
  const reason = changes && !canChange.value ? READ_ONLY : disabledReason;
  const isDisabled = reason !== undefined || isBusy;
  return (
    <>
      <button
        type={type}
        class={`button ${look}`}
        aria-label={label}
        aria-disabled={isDisabled}
        aria-busy={isBusy}
        aria-describedby={reason === undefined ? undefined : id}
        title={reason}
        onClick={(event) => {
          if (isDisabled) event.preventDefault();
          else onClick?.();
        }}
      >
        {children}
      </button>
      {reason !== undefined && (
        <span id={id} class="visually-hidden">
          {reason}
        </span>
      )}
    </>
  );
}
