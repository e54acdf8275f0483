import { useEffect, useRef, useState } from 'preact/hooks';

import type { Change } from '../../../dashboard/api/change.hook.js';
import { toFieldFaults } from '../../../dashboard/api/field-faults.util.js';
import { TextField } from '../../../dashboard/components/field.component.js';
import { Form } from '../../../dashboard/components/form.component.js';
import { ChangeActions } from '../../components/form.dialog.js';
import { ChoiceField } from '../../components/choice-field.component.js';
import { Problem } from '../../components/problem.component.js';
import { words } from '../../words/words.js';
import { type Draft, FIELDS } from './endpoint.draft.js';
import { EventsField } from './events-field.component.js';

export interface EndpointFormProps {
  initial: Draft;
  isNew?: boolean;
  submitLabel: string;
  change: Change<[draft: Draft]>;
  onCancel: () => void;
}

/** Form for an endpoint. */
export function EndpointForm({ initial, isNew = false, submitLabel, change, onCancel }: EndpointFormProps) {
  const [draft, setDraft] = useState(initial);
  const [isIncomplete, setIncomplete] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { byField, rest } = toFieldFaults(change.error, FIELDS);
  const eventsFault = isIncomplete ? words.form.chooseOne : byField.events;
  const hasFaults = isIncomplete || (change.error !== undefined && rest === undefined);
  useEffect(() => {
    const fault = form.current!.querySelector('.field-error');
    fault?.parentElement?.querySelector<HTMLElement>('input')?.focus();
  }, [change.error, isIncomplete]);
  const set = (fields: Partial<Draft>) => {
    setIncomplete(false);
    setDraft((before) => ({ ...before, ...fields }));
  };
  const submit = () => {
    const isComplete = draft.takesAll || draft.events.length > 0;
    setIncomplete(!isComplete);
    if (isComplete) change.run(draft);
  };
  return (
    <Form formRef={form} class="panel form" noValidate onSubmit={submit}>
      <TextField
        label={words.form.url}
        type="url"
        placeholder={words.form.urlPlaceholder}
        hint={words.form.urlHint}
        value={draft.url}
        error={byField.url}
        onValue={(url) => set({ url })}
      />
      <TextField
        label={words.form.description}
        hint={words.form.descriptionHint}
        value={draft.description}
        error={byField.description}
        onValue={(description) => set({ description })}
      />
      <EventsField draft={draft} error={eventsFault} onChange={set} />
      {isNew && (
        <ChoiceField
          label={words.form.signature}
          value={draft.signature}
          error={byField.signature}
          choices={[
            ['v1', words.form.v1, words.form.v1Hint],
            ['v1a', words.form.v1a, words.form.v1aHint],
          ]}
          onValue={(signature) => set({ signature })}
        />
      )}
      <Problem error={rest} />
      {hasFaults && <p class="field-error">{words.form.notSaved}</p>}
      <ChangeActions isBusy={change.isBusy} onCancel={onCancel}>
        {submitLabel}
      </ChangeActions>
    </Form>
  );
}
