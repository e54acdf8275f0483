import { path, request } from '../api/api.client.js';
import { useChange } from '../api/change.hook.js';
import { FormDialog } from './form.dialog.js';
import { notify } from './notice.state.js';
import { type EntryKind, SECRETS } from './secret-kinds.js';

export interface EndOverlapDialogProps {
  kind: EntryKind;
  /** Name of the entry. */
  name: string;
  onEnded: () => void;
  onClose: () => void;
}

/** Ends the overlap of a rotation now, once that is confirmed. */
export function EndOverlapDialog({ kind, name, onEnded, onClose }: EndOverlapDialogProps) {
  const { name: secret, end } = SECRETS[kind];
  const noun = secret.toLowerCase();
  const change = useChange(async () => {
    await request('POST', path`${`${kind}s`}/${name}/end-overlap`);
    notify(`The previous ${noun} has ended.`);
    onClose();
    onEnded();
  });
  return (
    <FormDialog
      title={`End the previous ${noun} now?`}
      label="End it now"
      look="danger"
      change={change}
      error={change.error}
      onClose={onClose}
    >
      <p class="warning">{end}</p>
    </FormDialog>
  );
}
