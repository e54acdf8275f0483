import { Button } from './button.component.js';

export interface CancelButtonProps {
  /** An answer is pending. The button is disabled, because the answer may contain a secret that is shown only once. */
  isBusy: boolean;
  onClick: () => void;
}

/** Closes a dialog or form. */
export function CancelButton({ isBusy, onClick }: CancelButtonProps) {
  return (
    <Button onClick={onClick} disabledReason={isBusy ? 'A request is in progress.' : undefined}>
      Cancel
    </Button>
  );
}
