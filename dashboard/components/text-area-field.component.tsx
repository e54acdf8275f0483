import { Field, type FieldProps } from './field.component.js';

export interface TextAreaFieldProps extends Omit<FieldProps, 'children'> {
  value: string;
  onValue: (value: string) => void;
  rows?: number;
  placeholder?: string;
}

/** A field for several lines of text. */
export function TextAreaField({ value, onValue, rows = 3, placeholder, ...field }: TextAreaFieldProps) {
  return (
    <Field {...field}>
      {(input) => (
        <textarea
          {...input}
          value={value}
          rows={rows}
          placeholder={placeholder}
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
