import type { ComponentType } from 'preact';

import type { ApiError } from '../api/api.error.js';
import type { Change } from '../api/change.hook.js';
import type { ActionButtonProps } from './action-button.component.js';
import { Form } from './form.component.js';
import type { ModalProps } from './modal.component.js';

type ButtonProps = ActionButtonProps & { changes?: boolean };

type DialogProps = Omit<ModalProps, 'onShown'>;

/** What an application has of its own: components with its words and its session. */
interface OwnParts {
  Button: ComponentType<ButtonProps>;
  Dialog: ComponentType<DialogProps>;
  Problem: ComponentType<{ error: unknown }>;
  /** Text of the button that closes a form. */
  cancel: string;
  /** Says why that button is disabled. */
  busy: string;
}

interface ChangeActionsProps extends Pick<ButtonProps, 'children' | 'look' | 'disabledReason' | 'onClick'> {
  /** An answer is pending. Cancel is disabled, because the answer may contain a secret that is shown only once. */
  isBusy: boolean;
  onCancel: () => void;
}

interface FormDialogProps extends Omit<DialogProps, 'isBusy'>, Pick<ButtonProps, 'look' | 'disabledReason'> {
  /** Text of the button that makes the change. */
  label: string;
  change: Change<[]>;
  /** The error of the change, unless the fields show it. */
  error: ApiError | undefined;
}

/** Makes what the forms of an application have in common. */
export function formParts({ Button, Dialog, Problem, cancel, busy }: OwnParts) {
  /** The buttons of a form or dialog: one makes the change, the other closes the form. */
  function ChangeActions({ isBusy, onCancel, ...change }: ChangeActionsProps) {
    return (
      <div class="actions">
        <Button type="submit" look="primary" changes isBusy={isBusy} {...change} />
        <Button onClick={onCancel} disabledReason={isBusy ? busy : undefined}>
          {cancel}
        </Button>
      </div>
    );
  }

  /** A dialog with a form that makes a change. */
  function FormDialog({ title, children, change, error, label, onClose, ...button }: FormDialogProps) {
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

  return { ChangeActions, FormDialog };
}
