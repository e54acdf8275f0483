import { useState } from 'preact/hooks';

import { path } from '../../../dashboard/api/api.client.js';
import { useChange } from '../../../dashboard/api/change.hook.js';
import { toFieldFaults } from '../../../dashboard/api/field-faults.util.js';
import { SelectField } from '../../../dashboard/components/field.component.js';
import type { Endpoint, SignatureKind } from '../../api/portal.answers.js';
import { request } from '../../api/portal.client.js';
import { Button } from '../../components/button.component.js';
import { ChoiceField } from '../../components/choice-field.component.js';
import { Dialog } from '../../components/dialog.component.js';
import { FormDialog } from '../../components/form.dialog.js';
import { SecretText } from '../../components/secret-text.component.js';
import { toMinute } from '../../components/time.component.js';
import { words } from '../../words/words.js';

type Rotated = Endpoint & { secret?: string };

export interface RotateDialogProps {
  endpoint: Endpoint;
  /** Whether the overlap of an earlier rotation has not ended. */
  isOverlapping: boolean;
  onRotated: () => void;
  onClose: () => void;
}

/** Replaces the secret, with an overlap, and shows the new one. */
export function RotateDialog({ endpoint, isOverlapping, onRotated, onClose }: RotateDialogProps) {
  const [overlap, setOverlap] = useState(86_400_000);
  const [signature, setSignature] = useState<SignatureKind>(endpoint.signature === 'v1a' ? 'v1a' : 'v1');
  const [rotated, setRotated] = useState<Rotated>();
  const rotate = useChange(async () => {
    const body = { overlap, signature };
    setRotated(await request<Rotated>('POST', path`endpoints/${endpoint.id}/rotate-secret`, { body }));
    onRotated();
  });
  const { byField, rest } = toFieldFaults(rotate.error, ['overlap', 'signature']);
  if (rotated) return <RotatedDialog rotated={rotated} onClose={onClose} />;
  return (
    <FormDialog title={words.rotate.title} label={words.rotate.rotate} change={rotate} error={rest} onClose={onClose}>
      <p>{words.rotate.lead}</p>
      {isOverlapping && <p class="warning">{words.rotate.earlier}</p>}
      <SelectField
        label={words.rotate.overlap}
        value={`${overlap}`}
        options={words.rotate.spans.map(([ms, text]) => [`${ms}`, text])}
        hint={overlap > 0 ? words.rotate.until(toMinute(Date.now() + overlap)) : words.rotate.atOnce}
        error={byField.overlap}
        onValue={(value) => setOverlap(Number(value))}
      />
      <ChoiceField
        label={words.rotate.signature}
        value={signature}
        error={byField.signature}
        choices={[
          ['v1', words.form.v1, words.form.v1Hint],
          ['v1a', words.form.v1a, words.form.v1aHint],
        ]}
        onValue={setSignature}
      />
    </FormDialog>
  );
}

function RotatedDialog({ rotated, onClose }: { rotated: Rotated; onClose: () => void }) {
  const { secret, publicKey, previousSecretUntil: until } = rotated;
  return (
    <Dialog title={words.rotate.done} onClose={onClose}>
      {secret === undefined ? (
        <SecretText label={words.rotate.newPublicKey} text={publicKey} />
      ) : (
        <SecretText label={words.rotate.newSecret} text={secret} />
      )}
      <p>{until === undefined ? words.rotate.atOnce : words.rotate.until(toMinute(until))}</p>
      <div class="actions">
        <Button look="primary" onClick={onClose}>
          {words.actions.close}
        </Button>
      </div>
    </Dialog>
  );
}
