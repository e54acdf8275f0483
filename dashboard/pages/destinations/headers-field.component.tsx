import { Button } from '../../components/button.component.js';
import { FieldGroup } from '../../components/field-group.component.js';
import { MaskedValue } from '../../components/masked-value.component.js';
import { type Pair, PairsField } from '../../components/pairs-field.component.js';
import { TextList } from '../../components/text-list.component.js';

export interface HeadersFieldProps {
  /** New headers; undefined keeps the current ones. */
  headers: Pair[] | undefined;
  /** Names of the current headers. */
  present: string[] | undefined;
  error: string | undefined;
  onHeaders: (headers: Pair[] | undefined) => void;
}

/** Headers sent with every request. The API hides the values of the current ones, so all must be entered again. */
export function HeadersField({ headers, present = [], error, onHeaders }: HeadersFieldProps) {
  if (headers) {
    const hint =
      present.length > 0
        ? `These replace ${present.join(', ')}. Current values are not shown, so enter all values again.`
        : 'Added to every request. Their values are not shown again.';
    return (
      <PairsField
        label="Headers"
        noun="header"
        hint={hint}
        error={error}
        pairs={headers}
        isValueRequired
        onPairs={onHeaders}
      />
    );
  }
  return (
    <FieldGroup label="Headers" error={error}>
      {present.length === 0 && <p class="muted">None</p>}
      <TextList values={present} after={() => <MaskedValue />} />
      <Button onClick={() => onHeaders((present.length > 0 ? present : ['']).map((name) => ({ name, value: '' })))}>
        {present.length > 0 ? 'Replace headers' : 'Add headers'}
      </Button>
    </FieldGroup>
  );
}
