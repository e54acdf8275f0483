import { canChange } from '../shell/session.state.js';
import { ActionButton, type ActionButtonProps } from './action-button.component.js';

export interface ButtonProps extends ActionButtonProps {
  /** The button changes something, so a read-only session cannot use it. */
  changes?: boolean;
}

const READ_ONLY = 'Your session is read-only.';

/** A button of the dashboard. */
export function Button({ changes = false, disabledReason, ...button }: ButtonProps) {
  return <ActionButton {...button} disabledReason={changes && !canChange.value ? READ_ONLY : disabledReason} />;
}
