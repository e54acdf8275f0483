import { useState } from 'preact/hooks';

import { request } from '../../api/api.client.js';
import { useChange } from '../../api/change.hook.js';
import { toFieldFaults } from '../../api/field-faults.util.js';
import { Button } from '../../components/button.component.js';
import { CancelButton } from '../../components/cancel-button.component.js';
import { Dialog } from '../../components/dialog.component.js';
import { TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { GeneratedSecret } from '../../components/generated-secret.dialog.js';
import { notify } from '../../components/notice.state.js';
import { Problem } from '../../components/problem.component.js';
import type { CreatedSource } from '../../../webhook-destination/registry/registry-entry.interface.js';

/** What clients use the key for. */
export const KEY_ADVICE = 'Clients of this source send it with their messages.';

export function CreateSourceDialog({ onCreated, onClose }: { onCreated: () => void; onClose: () => void }) {
  const [name, setName] = useState('');
  const [writeKey, setWriteKey] = useState('');
  const [generated, setGenerated] = useState<string>();
  const create = useChange(async () => {
    const body = { name, ...(writeKey !== '' && { writeKey }) };
    const entry = await request<CreatedSource>('POST', 'sources', { body });
    notify('The source has been created.');
    onCreated();
    if (entry.writeKey === undefined) onClose();
    else setGenerated(entry.writeKey);
  });
  if (generated !== undefined) {
    return <GeneratedSecret what="Write key" secret={generated} advice={KEY_ADVICE} onClose={onClose} />;
  }
  const { byField, rest } = toFieldFaults(create.error, ['name', 'writeKey']);
  return (
    <Dialog title="New source" isBusy={create.isBusy} onClose={onClose}>
      <Form onSubmit={() => create.run()}>
        <TextField
          label="Name"
          hint="Identifies the source in destinations and logs. Cannot be changed later."
          value={name}
          onValue={setName}
          error={byField.name}
        />
        <TextField
          label="Write key"
          type="password"
          hint="Leave empty to generate one. It is shown only once."
          value={writeKey}
          onValue={setWriteKey}
          error={byField.writeKey}
        />
        <Problem error={rest} />
        <div class="actions">
          <Button type="submit" look="primary" changes isBusy={create.isBusy}>
            Create
          </Button>
          <CancelButton isBusy={create.isBusy} onClick={onClose} />
        </div>
      </Form>
    </Dialog>
  );
}
