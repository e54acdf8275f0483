import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

import { FieldNotes, type FieldNotesProps, idsOfNotes } from './field-notes.component.js';

export interface FieldGroupProps extends FieldNotesProps {
  label: string;
  children: ComponentChildren;
}

/** Several inputs that form one field. */
export function FieldGroup({ label, hint, error, children }: FieldGroupProps) {
  const id = useId();
  return (
    <fieldset class={error ? 'field-group invalid' : 'field-group'} aria-describedby={idsOfNotes(id, { hint, error })}>
      <legend>{label}</legend>
      {children}
      <FieldNotes id={id} hint={hint} error={error} />
    </fieldset>
  );
}

export interface CheckboxProps {
  label: string;
  checked: boolean;
  onValue: (checked: boolean) => void;
}

export function Checkbox({ label, checked, onValue }: CheckboxProps) {
  return (
    <label class="checkbox">
      <input type="checkbox" checked={checked} onChange={(event) => onValue(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
