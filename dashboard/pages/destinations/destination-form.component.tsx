import { useEffect, useRef, useState } from 'preact/hooks';

import type { Change } from '../../api/change.hook.js';
import { toFieldFaults } from '../../api/field-faults.util.js';
import { ChangeActions } from '../../components/form.dialog.js';
import { Checkbox, FieldGroup } from '../../components/field-group.component.js';
import { SelectField, TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { DELIVERED_TYPES } from '../../components/message-types.js';
import { PairsField } from '../../components/pairs-field.component.js';
import { Problem } from '../../components/problem.component.js';
import { TextAreaField } from '../../components/text-area-field.component.js';
import { type Draft, FORM_FIELDS, hasNewOrigin, withNewOrigin } from './destination.draft.js';
import { HeadersField } from './headers-field.component.js';
import { UrlsField } from './urls-field.component.js';
import type { DestinationEntry } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';

export interface DestinationFormProps {
  initial: Draft;
  /** What the API shows of the current values; undefined for a new destination. */
  present?: Pick<DestinationEntry, 'urls' | 'headers' | 'signed'> | undefined;
  submitLabel: string;
  change: Change<[draft: Draft]>;
  onCancel: () => void;
}

/** Form for all options of a destination that can be stored. */
export function DestinationForm({ initial, present, submitLabel, change, onCancel }: DestinationFormProps) {
  const [edited, setEdited] = useState(initial);
  const draft = withNewOrigin(edited, present);
  const asksSecret = !present || (present.signed && hasNewOrigin(draft, present));
  const form = useRef<HTMLFormElement>(null);
  const { byField, rest } = toFieldFaults(change.error, FORM_FIELDS);
  useEffect(() => {
    const fault = form.current!.querySelector('.field-error');
    fault?.parentElement?.querySelector<HTMLElement>('input, textarea, select, button')?.focus();
  }, [change.error]);
  const errorOf = (field: string) => byField[field] && inWordsOfForm(byField[field]);
  const set = (fields: Partial<Draft>) => setEdited((before) => ({ ...before, ...fields }));
  /** Returns the props of a text field. */
  const text = (field: TextKey) => ({
    value: draft[field],
    onValue: (value: string) => set({ [field]: value }),
    error: errorOf(field),
  });
  return (
    <Form formRef={form} class="panel form destination-form" onSubmit={() => change.run(draft)}>
      <section class="form">
        <h2>Receiver</h2>
        {!present && <TextField label="Name" hint="Cannot be changed later." isRequired {...text('name')} />}
        <UrlsField urls={draft.urls} present={present?.urls} error={byField.urls} onUrls={(urls) => set({ urls })} />
        {asksSecret && (
          <TextField
            label="Secret"
            type="password"
            hint={
              present
                ? 'The URLs have a new origin. Enter the current secret to keep it. Leave empty to generate another one. It is shown only once.'
                : 'Signs the requests. Leave empty to generate one. It is shown only once.'
            }
            {...text('sharedSecret')}
          />
        )}
        <HeadersField
          headers={draft.headers}
          present={present?.headers}
          error={byField.headers}
          onHeaders={(headers) => set({ headers })}
        />
      </section>
      <section class="form">
        <h2>Messages it gets</h2>
        <FieldGroup label="Enabled" error={byField.enabled}>
          <Checkbox label="Route messages to it" checked={draft.enabled} onValue={(enabled) => set({ enabled })} />
        </FieldGroup>
        <TextAreaField label="Sources" hint="One name per line. Empty: all sources." {...text('sources')} />
        <FieldGroup label="Types" hint="None selected: all types." error={byField.types}>
          <div class="checkboxes">
            {DELIVERED_TYPES.map((type) => (
              <Checkbox
                key={type}
                label={type}
                checked={draft.types.includes(type)}
                onValue={(checked) =>
                  set({ types: DELIVERED_TYPES.filter((one) => (one === type ? checked : draft.types.includes(one))) })
                }
              />
            ))}
          </div>
        </FieldGroup>
        <TextAreaField
          label="Events"
          hint="Patterns for names of track events, one per line. * matches any text; a leading ! excludes. Empty: all events."
          placeholder={'Order *\n!Order Viewed'}
          {...text('events')}
        />
        <TextField
          label="Integration"
          hint="The destination's key in the integrations of a message. Empty: its name."
          {...text('integration')}
        />
      </section>
      <section class="form">
        <h2>Sending</h2>
        <FieldGroup
          label="Rate limit"
          hint="Maximum number of requests per process. Empty: no limit."
          error={errorOf('rateLimit')}
        >
          <div class="row">
            <NumberInput label="Requests" value={draft.requests} onValue={(requests) => set({ requests })} />
            <span>requests in</span>
            <NumberInput label="Within, in ms" value={draft.per} onValue={(per) => set({ per })} />
            <span>ms</span>
          </div>
        </FieldGroup>
        <TextField
          label="Concurrency"
          hint="Maximum number of deliveries in flight. Empty: as set in the relay's options."
          {...text('concurrency')}
        />
        <SelectField
          label="Retries"
          options={[
            ['', "As set in the relay's options"],
            ['spec', 'After timeouts, connection faults, 5xx, 408, 425, 429'],
            ['any-failure', 'After every answer but 2xx'],
          ]}
          {...text('retryOn')}
        />
        <TextField
          label="Retry window"
          hint="How long a delivery is retried, in ms; at most 604,800,000 (7 days). Empty: as set in the relay's options."
          {...text('retryWindow')}
        />
        <SelectField
          label="Standard Webhooks headers"
          options={[
            ['', 'If the secret is long enough'],
            ['true', 'Always'],
            ['false', 'Never'],
          ]}
          {...text('standardWebhooks')}
        />
        <FieldGroup label="Trace" error={byField.propagateTrace}>
          <Checkbox
            label="Send traceparent to this receiver"
            checked={draft.propagateTrace}
            onValue={(propagateTrace) => set({ propagateTrace })}
          />
        </FieldGroup>
        <PairsField
          label="Metadata"
          noun="entry"
          hint="Your own data about the destination, such as a tenant. Not sent to the receiver."
          error={byField.metadata}
          pairs={draft.metadata}
          onPairs={(metadata) => set({ metadata })}
        />
      </section>
      <Problem error={rest} />
      {!rest && change.error && <p class="field-error">Not saved: see the marked fields.</p>}
      <ChangeActions isBusy={change.isBusy} onCancel={onCancel}>
        {submitLabel}
      </ChangeActions>
    </Form>
  );
}

/** Rules that speak of the options in code, by their beginning, in the words of the form. */
const REWORDED: [start: string, text: string][] = [
  [
    'Must be { requests, per }',
    'Enter a whole number of requests, from 1 to 100,000, and a number of ms above 0, at most 2,147,483,647.',
  ],
  ['Must be an array of 1 to 100 event', 'Enter 1 to 100 patterns of 1 to 200 characters each.'],
  [
    'Must be a non-empty string without white space',
    'Must have no white space or quote at an end. After whsec_, enter base64 of at least 24 bytes; after whsk_, of an Ed25519 private key. A key that begins with whpk_ is a public one.',
  ],
];

function inWordsOfForm(rule: string): string {
  return REWORDED.find(([start]) => rule.startsWith(start))?.[1] ?? rule;
}

type TextKey = { [K in keyof Draft]: Draft[K] extends string ? K : never }[keyof Draft];

function NumberInput({ label, value, onValue }: { label: string; value: string; onValue: (value: string) => void }) {
  return (
    <input
      aria-label={label}
      inputMode="numeric"
      autocomplete="off"
      value={value}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  );
}
