import { useState } from 'preact/hooks';

import { request } from '../api/api.client.js';
import { useChange } from '../api/change.hook.js';
import { toFieldFaults } from '../api/field-faults.util.js';
import { Button } from './button.component.js';
import { CancelButton } from './cancel-button.component.js';
import { Dialog } from './dialog.component.js';
import { TextField } from './field.component.js';
import { Form } from './form.component.js';
import { Problem } from './problem.component.js';

const HOUR = 3_600_000;

export interface RotateDialogProps {
  /** Kind of secret: "Secret" or "Write key". */
  what: string;
  /** Route of the API. */
  route: string;
  /** Field of the new secret in the body. */
  field: 'secret' | 'key';
  /** Field of the generated secret in the answer. */
  answer: 'sharedSecret' | 'writeKey';
  /** What happens until the overlap ends. */
  advice: string;
  /** @param generated the generated secret; undefined if the user entered one */
  onRotated: (generated: string | undefined) => void;
  onClose: () => void;
}

/** Replaces a secret or key, with an overlap. */
export function RotateDialog({ what, route, field, answer, advice, onRotated, onClose }: RotateDialogProps) {
  const [hours, setHours] = useState('24');
  const [given, setGiven] = useState('');
  const noun = what.toLowerCase();
  const rotate = useChange(async () => {
    const overlap = hours.trim() === '' ? undefined : Math.round(Number(hours.replace(',', '.')) * HOUR);
    const body = { overlap, ...(given !== '' && { [field]: given }) };
    const entry = await request<Record<string, string | undefined>>('POST', route, { body });
    onRotated(entry[answer]);
  });
  const { byField, rest } = toFieldFaults(rotate.error, ['overlap', field, answer]);
  return (
    <Dialog title={`Rotate the ${noun}?`} isBusy={rotate.isBusy} onClose={onClose}>
      <p>{advice}</p>
      <Form onSubmit={() => rotate.run()}>
        <TextField
          label="Overlap, in hours"
          type="text"
          value={hours}
          onValue={setHours}
          hint={`The current ${noun} stays valid for this long. 0 revokes it at once.`}
          error={byField.overlap}
        />
        <TextField
          label={`New ${noun}`}
          type="password"
          value={given}
          onValue={setGiven}
          hint="Leave empty to generate one. It is shown only once."
          error={byField[field] ?? byField[answer]}
        />
        <Problem error={rest} />
        <div class="actions">
          <Button type="submit" look="primary" changes isBusy={rotate.isBusy}>
            Rotate
          </Button>
          <CancelButton isBusy={rotate.isBusy} onClick={onClose} />
        </div>
      </Form>
    </Dialog>
  );
}
