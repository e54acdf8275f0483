import { useEffect, useRef, useState } from 'preact/hooks';

import type { Explanation } from '../../../lib/webhook-destination/message.explainer.js';
import type { SourceEntry } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';
import { request } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { useChange } from '../../api/change.hook.js';
import { getPortion } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { Field, SelectField, TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { Problem } from '../../components/problem.component.js';
import { keep, recall } from '../../shell/history-entry.state.js';
import { ExplanationView, toSummary } from './explanation.component.js';
import { findJsonFault } from './json.fault.js';

const EXAMPLE = `{
  "type": "track",
  "userId": "u1",
  "event": "Order Completed",
  "properties": { "revenue": 39.95 }
}`;

/** Maximum number of sources to choose from. If there are more, the user types the name. */
const MAX_SOURCES = 500;

const KEY = 'explain';

/** What Back shows again. */
interface Kept {
  text: string;
  chosen: string;
  explanation: Explanation | undefined;
}

/** Explains whether a message would be accepted, and where it would go. */
export default function ExplainPage() {
  const [kept] = useState(() => recall<Kept>(KEY));
  const [text, setText] = useState(kept?.text ?? EXAMPLE);
  const [chosen, setChosen] = useState(kept?.chosen ?? '');
  const [fault, setFault] = useState<string>();
  const [explanation, setExplanation] = useState(kept?.explanation);
  useEffect(() => keep(KEY, { text, chosen, explanation } satisfies Kept), [text, chosen, explanation]);
  const field = useRef<HTMLTextAreaElement>(null);
  const sources = useAnswer((signal) => getPortion<SourceEntry>('sources', { limit: MAX_SOURCES }, signal), 'sources');
  const names = sources.answer?.rows.map(({ name }) => name) ?? [];
  const source = chosen || names[0] || '';

  const { run, isBusy, error } = useChange(async () => {
    const found = findFault(text);
    setFault(found?.rule);
    setExplanation(undefined);
    if (found) {
      field.current!.focus();
      if (found.line !== undefined) selectLine(field.current!, found.line);
      return;
    }
    // Sent as typed, because parsed numbers could differ.
    const body = `{"source":${JSON.stringify(source)},"message":${text}}`;
    setExplanation(await request<Explanation>('POST', 'explain', { body }));
  });

  return (
    <>
      <PageHeading title="Explain" />
      <p class="hint">
        Shows whether a message would be accepted, which destinations would get it, and what each would be sent. Nothing
        is sent.
      </p>
      <Problem error={sources.error} onRetry={sources.reload} />
      <Form class="form panel" onSubmit={run}>
        {sources.answer?.cursor === undefined ? (
          <SelectField
            label="Source"
            value={source}
            hint={
              sources.answer && source === ''
                ? 'There are no sources yet: create one on the page Sources, or declare it in the options.'
                : undefined
            }
            options={names.map((name) => [name, toPlainText(name, 80)] as const)}
            onValue={setChosen}
          />
        ) : (
          <TextField label="Source" value={source} isRequired onValue={setChosen} />
        )}
        <Field label="Message" hint="One message as JSON, as clients post it." error={fault}>
          {(input) => (
            <textarea
              {...input}
              ref={field}
              rows={10}
              spellcheck={false}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="actions">
          <Button type="submit" look="primary" isBusy={isBusy}>
            Explain
          </Button>
        </div>
      </Form>
      <Problem error={error} />
      <p role="status" class="visually-hidden">
        {explanation && toSummary(explanation)}
      </p>
      {explanation && <ExplanationView explanation={explanation} />}
    </>
  );
}

/** Checks a message before it is sent; undefined if there is no fault. */
function findFault(text: string): { rule: string; line?: number } | undefined {
  if (text.trim() === '') return { rule: 'Enter a message.' };
  const fault = findJsonFault(text);
  if (fault) return { rule: `${fault.message} (line ${fault.line}, column ${fault.column}).`, line: fault.line };
  if (text.trimStart().startsWith('{')) return undefined;
  return { rule: 'The message must be an object, as in { "type": "track", … }.' };
}

function selectLine(field: HTMLTextAreaElement, line: number): void {
  const lines = field.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, before) => sum + before.length + 1, 0);
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
}
