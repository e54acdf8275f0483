import { useId } from 'preact/hooks';

import { FieldGroup, type FieldGroupProps } from '../../dashboard/components/field-group.component.js';

export interface ChoiceFieldProps<T extends string> extends Omit<FieldGroupProps, 'children'> {
  value: T;
  /** Values, each with its label and what it means. */
  choices: readonly (readonly [value: T, label: string, hint?: string])[];
  onValue: (value: T) => void;
}

/** A field for one of a few values, all of which are shown. */
export function ChoiceField<T extends string>({ value, choices, onValue, ...group }: ChoiceFieldProps<T>) {
  const name = useId();
  return (
    <FieldGroup {...group}>
      {choices.map(([choice, label, hint]) => (
        <label key={choice} class="choice">
          <input type="radio" name={name} checked={choice === value} onChange={() => onValue(choice)} />
          <span>
            {label}
            {hint !== undefined && <span class="hint">{hint}</span>}
          </span>
        </label>
      ))}
    </FieldGroup>
  );
}
