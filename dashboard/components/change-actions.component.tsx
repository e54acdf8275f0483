import { Button, type ButtonProps } from './button.component.js';

export interface ChangeActionsProps extends Pick<ButtonProps, 'children' | 'look' | 'disabledReason' | 'onClick'> {
  /** An answer is pending. Cancel is disabled, because the answer may contain a secret that is shown only once. */
  isBusy: boolean;
  onCancel: () => void;
}

/** The buttons of a form or dialog: one makes the change, the other closes the form. */
export function ChangeActions({ isBusy, onCancel, ...change }: ChangeActionsProps) {
  return (
    <div class="actions">
      <Button type="submit" look="primary" changes isBusy={isBusy} {...change} />
      <Button onClick={onCancel} disabledReason={isBusy ? 'A request is in progress.' : undefined}>
        Cancel
      </Button>
    </div>
  );
}
