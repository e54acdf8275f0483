import { Button } from './button.component.js';

export interface CancelButtonProps {
  /** What was asked for is under way: its answer may be a secret that is shown once. */
  isBusy: boolean;
  onClick: () => void;
}

/** Leaves a dialog or form. */
export function CancelButton({ isBusy, onClick }: CancelButtonProps) {
  return (
    <Button onClick={onClick} disabledReason={isBusy ? 'It is under way.' : undefined}>
      Cancel
    </Button>
  );
}
