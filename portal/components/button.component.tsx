import { ActionButton, type ActionButtonProps } from '../../dashboard/components/action-button.component.js';
import { canChange } from '../shell/session.state.js';
import { words } from '../words/words.js';

export interface ButtonProps extends ActionButtonProps {
  /** The button changes something, or shows a secret, so a read-only link cannot use it. */
  changes?: boolean;
}

/** A button of the portal. */
export function Button({ changes = false, disabledReason, ...button }: ButtonProps) {
  const reason = changes && !canChange.value ? words.actions.readOnly : disabledReason;
  return <ActionButton {...button} disabledReason={reason} />;
}
