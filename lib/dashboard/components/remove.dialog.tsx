import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { path, request } from '../api/api.client.js';
import { useChange } from '../api/change.hook.js';
import { Button } from './button.component.js';
import { CancelButton } from './cancel-button.component.js';
import { Dialog } from './dialog.component.js';
import { TextField } from './field.component.js';
import { Form } from './form.component.js';
import { isTypedAs } from './plain-text.util.js';
import { PlainText } from './plain-text.component.js';
import { Problem } from './problem.component.js';

export interface RemoveDialogProps {
  kind: 'destination' | 'source';
  name: string;
  /** What the removal means for the entry's messages or deliveries. */
  children: ComponentChildren;
  onRemoved: () => void;
  onClose: () => void;
}

/** Removes an entry once its name has been typed. */
export function RemoveDialog({ kind, name, children, onRemoved, onClose }: RemoveDialogProps) {
  const [typed, setTyped] = useState('');
  const remove = useChange(async () => {
    await request('DELETE', path`${`${kind}s`}/${name}`);
    onRemoved();
  });
  const isSame = isTypedAs(typed, name);
  return (
    <Dialog title={`Remove this ${kind}?`} isBusy={remove.isBusy} onClose={onClose}>
      {children}
      <Form
        onSubmit={() => {
          if (isSame) remove.run();
        }}
      >
        <p>
          Name: <PlainText value={name} max={name.length} />
        </p>
        <TextField label="Type the name to confirm" value={typed} onValue={setTyped} />
        <Problem error={remove.error} />
        <div class="actions">
          <Button
            type="submit"
            look="danger"
            changes
            isBusy={remove.isBusy}
            disabledReason={isSame ? undefined : 'Type the name first.'}
          >
            Remove
          </Button>
          <CancelButton isBusy={remove.isBusy} onClick={onClose} />
        </div>
      </Form>
    </Dialog>
  );
}
