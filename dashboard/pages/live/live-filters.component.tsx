import type { LiveFilter } from '../../api/live.stream.js';
import { Button } from '../../components/button.component.js';
import { SelectField, TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { MESSAGE_TYPES } from '../../components/message-types.js';
import { useDraft } from '../../components/search-form.hook.js';
import { hrefOf } from '../../shell/hash.router.js';

const KINDS = [
  ['', 'All'],
  ['message', 'Accepted'],
  ['duplicate', 'Repeated'],
  ['rejected', 'Refused'],
  ['delivered', 'Delivered'],
  ['retry', 'Retry'],
  ['dead', 'Dead'],
] as const;

const TYPES = ['', ...MESSAGE_TYPES].map((type) => [type, type || 'All'] as const);

const TEXTS = [
  ['source', 'Source'],
  ['destination', 'Destination'],
  ['event', 'Event'],
  ['userId', 'User'],
  ['messageId', 'Message'],
] as const;

/** Form for the fields that an event must match exactly. */
export function LiveFilters({ filter, onFilter }: { filter: LiveFilter; onFilter: (filter: LiveFilter) => void }) {
  const [draft, type] = useDraft(filter);
  const set = (field: keyof LiveFilter) => (value: string) => type({ [field]: value });
  return (
    <Form class="panel filters" aria-label="Filters" onSubmit={() => onFilter(draft)}>
      <SelectField label="Kind" value={draft.kind ?? ''} options={KINDS} onValue={set('kind')} />
      <SelectField label="Type" value={draft.type ?? ''} options={TYPES} onValue={set('type')} />
      {TEXTS.map(([field, label]) => (
        <TextField key={field} label={label} value={draft[field] ?? ''} onValue={set(field)} />
      ))}
      <div class="actions">
        <Button type="submit" look="primary">
          Apply
        </Button>
        {Object.keys(filter).length > 0 && <a href={hrefOf('live')}>Clear</a>}
      </div>
      {(filter.type ?? filter.event ?? filter.userId) && (
        <p class="hint">Outcomes are hidden: only accepted and repeated messages have a type, event and user.</p>
      )}
    </Form>
  );
}
