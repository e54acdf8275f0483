import { words } from '../words/words.js';
import { Button, type ButtonProps } from './button.component.js';

export interface ChangeActionsProps extends Pick<ButtonProps, 'children' | 'look' | 'disabledReason'> {
  /** An answer is pending. */
  isBusy: boolean;
  onCancel: () => void;
}

/** The buttons of a form or dialog: one makes the change, the other closes the form. */
export function ChangeActions({ isBusy, onCancel, ...change }: ChangeActionsProps) {
  return (
    <div class="actions">
      <Button type="submit" look="primary" changes isBusy={isBusy} {...change} />
      <Button onClick={onCancel} disabledReason={isBusy ? words.actions.busy : undefined}>
        {words.actions.cancel}
      </Button>
    </div>
  );
}
