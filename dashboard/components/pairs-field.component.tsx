import { Button } from './button.component.js';
import { FieldGroup, type FieldGroupProps } from './field-group.component.js';

export interface Pair {
  name: string;
  value: string;
}

export interface PairsFieldProps extends Omit<FieldGroupProps, 'children'> {
  /** Noun for one pair, in lower case, such as "header". */
  noun: string;
  pairs: Pair[];
  isValueRequired?: boolean;
  onPairs: (pairs: Pair[]) => void;
}

/** A field for a list of names, each with a value. */
export function PairsField({ noun, pairs, isValueRequired = false, onPairs, ...group }: PairsFieldProps) {
  const change = (index: number, fields: Partial<Pair>) =>
    onPairs(pairs.map((pair, at) => (at === index ? { ...pair, ...fields } : pair)));
  return (
    <FieldGroup {...group}>
      {pairs.map(({ name, value }, index) => (
        <div key={index} class="row">
          <input
            aria-label={`Name of ${noun} ${index + 1}`}
            placeholder="Name"
            autocomplete="off"
            spellcheck={false}
            value={name}
            onInput={(event) => change(index, { name: event.currentTarget.value })}
          />
          <input
            aria-label={`Value of ${noun} ${index + 1}`}
            placeholder="Value"
            autocomplete="off"
            spellcheck={false}
            value={value}
            required={isValueRequired && name !== ''}
            onInput={(event) => change(index, { value: event.currentTarget.value })}
          />
          <Button
            look="quiet"
            label={`Remove ${noun} ${index + 1}`}
            onClick={() => onPairs(pairs.filter((_, at) => at !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button onClick={() => onPairs([...pairs, { name: '', value: '' }])}>Add {noun}</Button>
    </FieldGroup>
  );
}
