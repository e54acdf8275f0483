import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { words } from '../../words/words.js';
import { fieldsOf } from './schema.fields.js';

/** The fields that a schema names, with their types: what a reader looks for first. */
export function SchemaFields({ schema }: { schema: object }) {
  const fields = fieldsOf(schema);
  if (fields.length === 0) return null;
  return (
    <section class="panel">
      <h2>{words.events.fields}</h2>
      <dl class="schema">
        {fields.map(({ name, type, isRequired, description }) => (
          <div key={name}>
            <dt>
              <span class="mono">
                <PlainText value={name} max={120} />
              </span>{' '}
              <span class="hint">
                <PlainText value={[type, isRequired && words.events.required].filter(Boolean).join(', ')} max={200} />
              </span>
            </dt>
            {description !== undefined && (
              <dd>
                <PlainText value={description} max={1_000} />
              </dd>
            )}
          </div>
        ))}
      </dl>
    </section>
  );
}
