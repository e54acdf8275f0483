import { path, request } from '../../api/api.client.js';
import { useChange } from '../../api/change.hook.js';
import { FormDialog } from '../../components/form.dialog.js';
import { notify } from '../../components/notice.state.js';

export interface DisableDialogProps {
  /** Name of the destination. */
  name: string;
  onDisabled: () => void;
  onClose: () => void;
}

/** Disables a destination once that is confirmed: what arrives meanwhile is lost to it. */
export function DisableDialog({ name, onDisabled, onClose }: DisableDialogProps) {
  const change = useChange(async () => {
    await request('PATCH', path`destinations/${name}`, { body: { enabled: false } });
    notify('Disabled: no messages are routed to it.');
    onClose();
    onDisabled();
  });
  return (
    <FormDialog
      title="Disable this destination?"
      label="Disable"
      change={change}
      error={change.error}
      onClose={onClose}
    >
      <p class="warning">
        Messages that arrive while it is disabled are never sent to it, and deletions of users do not notify it. To send
        them later, pause it instead.
      </p>
      <p>Its deliveries in the queue wait until it is enabled.</p>
    </FormDialog>
  );
}
