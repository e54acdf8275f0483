import type { Change } from '../../dashboard/api/change.hook.js';
import type { ApiError } from '../../dashboard/api/api.error.js';
import { Form } from '../../dashboard/components/form.component.js';
import type { ButtonProps } from './button.component.js';
import { ChangeActions } from './change-actions.component.js';
import { Dialog, type DialogProps } from './dialog.component.js';
import { Problem } from './problem.component.js';

export interface FormDialogProps extends Omit<DialogProps, 'isBusy'>, Pick<ButtonProps, 'look' | 'disabledReason'> {
  /** Text of the button that makes the change. */
  label: string;
  change: Change<[]>;
  /** The error of the change, unless the fields show it. */
  error: ApiError | undefined;
}

/** A dialog with a form that makes a change. */
export function FormDialog({ title, children, change, error, label, onClose, ...button }: FormDialogProps) {
  const close = () => {
    if (!change.isBusy) onClose();
  };
  return (
    <Dialog title={title} onClose={close}>
      <Form onSubmit={change.run}>
        {children}
        <Problem error={error} />
        <ChangeActions isBusy={change.isBusy} onCancel={close} {...button}>
          {label}
        </ChangeActions>
      </Form>
    </Dialog>
  );
}
