import { useState } from 'preact/hooks';

import { useAnswer } from '../../../dashboard/api/answer.hook.js';
import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { ChoiceField } from '../../components/choice-field.component.js';
import { Problem } from '../../components/problem.component.js';
import { words } from '../../words/words.js';
import { getEvents } from '../events/events.answer.js';
import type { Draft } from './endpoint.draft.js';

export interface EventsFieldProps {
  draft: Pick<Draft, 'takesAll' | 'events'>;
  error?: string | undefined;
  onChange: (fields: Partial<Draft>) => void;
}

/** A field for the events that an endpoint gets: all, or those chosen from the catalogue. */
export function EventsField({ draft: { takesAll, events }, error, onChange }: EventsFieldProps) {
  return (
    <div class="form">
      <ChoiceField
        label={words.form.events}
        value={takesAll ? 'all' : 'some'}
        error={error}
        choices={[
          ['all', words.form.all],
          ['some', words.form.some],
        ]}
        onValue={(choice) => onChange({ takesAll: choice === 'all' })}
      />
      {!takesAll && <ChosenEvents chosen={events} onChosen={(chosen) => onChange({ events: chosen })} />}
    </div>
  );
}

interface ChosenEventsProps {
  chosen: string[];
  onChosen: (events: string[]) => void;
}

function ChosenEvents({ chosen, onChosen }: ChosenEventsProps) {
  const [text, setText] = useState('');
  const [before] = useState(chosen);
  const { answer, error, reload } = useAnswer(getEvents, '');
  if (!answer) return error ? <Problem error={error} onRetry={reload} /> : <p role="status">{words.shell.loading}</p>;
  const inCatalogue = new Set(answer.events.map(({ name }) => name));
  // Such as patterns, which the application may have set.
  const others = before.filter((name) => !inCatalogue.has(name)).map((name) => ({ name, description: undefined }));
  const all = [...answer.events, ...others];
  const sought = text.trim().toLowerCase();
  const found = all.filter(({ name, description }) => `${name} ${description ?? ''}`.toLowerCase().includes(sought));
  if (all.length === 0) return <p class="hint">{words.events.empty}</p>;
  return (
    <div class="chosen-events">
      <div class="spread">
        <input
          type="search"
          aria-label={words.form.search}
          placeholder={words.form.search}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <p class="hint" role="status">
          {words.form.chosen(chosen.length, all.length)}
        </p>
      </div>
      <ul aria-label={words.form.events}>
        {found.map(({ name, description }) => (
          <li key={name}>
            <label class="choice">
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={({ currentTarget }) =>
                  onChosen(currentTarget.checked ? [...chosen, name] : chosen.filter((other) => other !== name))
                }
              />
              <span>
                <PlainText value={name} max={120} />
                {description !== undefined && (
                  <span class="hint">
                    <PlainText value={description} max={200} />
                  </span>
                )}
              </span>
            </label>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="hint">{words.form.noMatch}</p>}
    </div>
  );
}
