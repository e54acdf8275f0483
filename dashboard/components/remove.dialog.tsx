import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { path, request } from '../api/api.client.js';
import { useChange } from '../api/change.hook.js';
import { goTo, hrefOf } from '../shell/hash.router.js';
import { TextField } from './field.component.js';
import { FormDialog } from './form.dialog.js';
import { notify } from './notice.state.js';
import { isTypedAs } from './plain-text.util.js';
import { PlainText } from './plain-text.component.js';
import type { EntryKind } from './secret-kinds.js';

export interface RemoveDialogProps {
  kind: EntryKind;
  name: string;
  /** What the removal means for the entry's messages or deliveries. */
  children: ComponentChildren;
  onClose: () => void;
}

/** Removes an entry once its name has been typed. */
export function RemoveDialog({ kind, name, children, onClose }: RemoveDialogProps) {
  const [typed, setTyped] = useState('');
  const remove = useChange(async () => {
    await request('DELETE', path`${`${kind}s`}/${name}`);
    notify(`The ${kind} has been removed.`);
    goTo(hrefOf(`${kind}s`));
  });
  return (
    <FormDialog
      title={`Remove this ${kind}?`}
      label="Remove"
      look="danger"
      disabledReason={isTypedAs(typed, name) ? undefined : 'Type the name first.'}
      change={remove}
      error={remove.error}
      onClose={onClose}
    >
      {children}
      <p>
        Name: <PlainText value={name} max={name.length} />
      </p>
      <TextField label="Type the name to confirm" value={typed} onValue={setTyped} />
    </FormDialog>
  );
}
