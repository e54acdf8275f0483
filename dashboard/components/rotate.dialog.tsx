import { useState } from 'preact/hooks';

import { path, request } from '../api/api.client.js';
import { useChange } from '../api/change.hook.js';
import { toFieldFaults } from '../api/field-faults.util.js';
import { TextField } from './field.component.js';
import { FormDialog } from './form.dialog.js';
import { showSecret } from './generated-secret.dialog.js';
import { notify } from './notice.state.js';
import { type EntryKind, SECRETS } from './secret-kinds.js';
import { HOUR } from './span.util.js';

export interface RotateDialogProps {
  kind: EntryKind;
  /** Name of the entry. */
  name: string;
  /** Whether the overlap of an earlier rotation has not ended. */
  overlaps: boolean;
  onRotated: () => void;
  onClose: () => void;
}

/** Replaces a secret or key, with an overlap, and shows the new one if it was generated. */
export function RotateDialog({ kind, name, overlaps, onRotated, onClose }: RotateDialogProps) {
  const [hours, setHours] = useState('24');
  const [given, setGiven] = useState('');
  const { name: secret, overlap: advice, earlier, rotation } = SECRETS[kind];
  const { action, field, answer } = rotation;
  const noun = secret.toLowerCase();
  const rotate = useChange(async () => {
    const overlap = hours.trim() === '' ? undefined : Math.round(Number(hours.replace(',', '.')) * HOUR);
    const body = { overlap, ...(given !== '' && { [field]: given }) };
    const route = path`${`${kind}s`}/${name}/${action}`;
    const entry = await request<Record<string, string | undefined>>('POST', route, { body });
    notify(`The ${noun} has been rotated.`);
    onClose();
    if (entry[answer] !== undefined) showSecret(kind, entry[answer]);
    onRotated();
  });
  const { byField, rest } = toFieldFaults(rotate.error, ['overlap', field, answer]);
  return (
    <FormDialog title={`Rotate the ${noun}?`} label="Rotate" change={rotate} error={rest} onClose={onClose}>
      <p>{advice}</p>
      {overlaps && <p class="warning">{earlier}</p>}
      <TextField
        label="Overlap, in hours"
        value={hours}
        onValue={setHours}
        hint={`The current ${noun} stays valid for this long. 0 revokes it at once.`}
        error={byField.overlap && 'Must be a number of hours from 0 to 8,760 (365 days).'}
      />
      <TextField
        label={`New ${noun}`}
        type="password"
        value={given}
        onValue={setGiven}
        hint="Leave empty to generate one. It is shown only once."
        error={byField[field] ?? byField[answer]}
      />
    </FormDialog>
  );
}
