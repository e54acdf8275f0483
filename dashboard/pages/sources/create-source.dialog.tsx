import { useState } from 'preact/hooks';

import { request } from '../../api/api.client.js';
import { useChange } from '../../api/change.hook.js';
import { toFieldFaults } from '../../api/field-faults.util.js';
import { TextField } from '../../components/field.component.js';
import { FormDialog } from '../../components/form.dialog.js';
import { showSecret } from '../../components/generated-secret.dialog.js';
import { notify } from '../../components/notice.state.js';
import type { CreatedSource } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';

export function CreateSourceDialog({ onCreated, onClose }: { onCreated: () => void; onClose: () => void }) {
  const [name, setName] = useState('');
  const [writeKey, setWriteKey] = useState('');
  const create = useChange(async () => {
    const body = { name, ...(writeKey !== '' && { writeKey }) };
    const entry = await request<CreatedSource>('POST', 'sources', { body });
    notify('The source has been created.');
    onCreated();
    onClose();
    if (entry.writeKey !== undefined) showSecret('source', entry.writeKey);
  });
  const { byField, rest } = toFieldFaults(create.error, ['name', 'writeKey']);
  return (
    <FormDialog title="New source" label="Create" change={create} error={rest} onClose={onClose}>
      <TextField
        label="Name"
        hint="Identifies the source in destinations and logs. Cannot be changed later."
        isRequired
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
    </FormDialog>
  );
}
