import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

import { FieldNotes, type FieldNotesProps, idsOfNotes } from './field-notes.component.js';

/** Attributes that connect an input to the label, hint and error of its field. */
export interface FieldInput {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

export interface FieldProps extends FieldNotesProps {
  label: string;
  children: (input: FieldInput) => ComponentChildren;
}

/** A label with its input. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{breakable(label)}</label>
      {children({ id, 'aria-describedby': idsOfNotes(id, { hint, error }), 'aria-invalid': error !== undefined })}
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

/** Lets the name of a message's field break after a dot rather than inside a word. */
function breakable(label: string): ComponentChildren {
  return label.split(/(?<=\.)/).map((part) => [part, <wbr />]);
}

export interface TextFieldProps extends Omit<FieldProps, 'children'> {
  value: string;
  onValue: (value: string) => void;
  type?: 'text' | 'password' | 'search' | 'datetime-local' | 'number' | 'url';
  placeholder?: string;
  autocomplete?: 'off' | 'current-password';
  isRequired?: boolean;
}

/** A field for one line of text. */
export function TextField({
  value,
  onValue,
  type = 'text',
  placeholder,
  autocomplete = 'off',
  isRequired = false,
  ...field
}: TextFieldProps) {
  return (
    <Field {...field}>
      {(input) => (
        <input
          {...input}
          {...({ type } as { type: 'text' })} // each type has props of its own; the following are common to all
          value={value}
          placeholder={placeholder}
          autocomplete={autocomplete}
          required={isRequired}
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface SelectFieldProps extends Omit<FieldProps, 'children'> {
  value: string;
  onValue: (value: string) => void;
  /** Values, each with its label. */
  options: readonly (readonly [value: string, text: string])[];
}

/** A field for one of several values. */
export function SelectField({ value, onValue, options, ...field }: SelectFieldProps) {
  return (
    <Field {...field}>
      {(input) => (
        <select {...input} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export interface SuggestionFieldProps extends Omit<FieldProps, 'children'> {
  value: string;
  placeholder: string;
  suggestions: readonly string[];
  /** Called with each letter. */
  onTyped: (text: string) => void;
  /** Called when a suggestion is chosen, on Enter, and when the field is left. */
  onValue: (value: string) => void;
}

/** A field for one line of text, which suggests some. */
export function SuggestionField({ value, placeholder, suggestions, onTyped, onValue, ...field }: SuggestionFieldProps) {
  const list = useId();
  return (
    <Field {...field}>
      {(input) => (
        <>
          <input
            {...input}
            type="search"
            list={list}
            value={value}
            placeholder={placeholder}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => onTyped(event.currentTarget.value)}
            onChange={(event) => onValue(event.currentTarget.value)}
          />
          <datalist id={list}>
            {suggestions.map((text) => (
              <option key={text} value={text} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
