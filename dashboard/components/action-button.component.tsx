import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export interface ActionButtonProps {
  children: ComponentChildren;
  onClick?: (() => void) | undefined;
  type?: 'button' | 'submit';
  look?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** An answer is pending. */
  isBusy?: boolean;
  /** Why the button is disabled. */
  disabledReason?: string | undefined;
  label?: string | undefined;
  /** Whether the button is the chosen one of several. */
  isPressed?: boolean | undefined;
}

/** A button. A disabled one stays focusable and says why it is disabled. */
export function ActionButton({
  children,
  onClick,
  type = 'button',
  look = 'plain',
  isBusy = false,
  disabledReason: reason,
  label,
  isPressed,
}: ActionButtonProps) {
  const id = useId();
  const isDisabled = reason !== undefined || isBusy;
  return (
    <>
      <button
        type={type}
        class={`button ${look}`}
        aria-label={label}
        aria-pressed={isPressed}
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
