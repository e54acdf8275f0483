import { useState } from 'preact/hooks';

import { path } from '../../../dashboard/api/api.client.js';
import { useAnswer } from '../../../dashboard/api/answer.hook.js';
import { useChange } from '../../../dashboard/api/change.hook.js';
import { SelectField, TextField } from '../../../dashboard/components/field.component.js';
import { Form } from '../../../dashboard/components/form.component.js';
import { toPlainText } from '../../../dashboard/components/plain-text.util.js';
import type { Attempt, CatalogueEvent, Endpoint } from '../../api/portal.answers.js';
import { request } from '../../api/portal.client.js';
import { AttemptResult } from '../../components/attempt-result.component.js';
import { Button } from '../../components/button.component.js';
import { Dialog } from '../../components/dialog.component.js';
import { Problem } from '../../components/problem.component.js';
import { words } from '../../words/words.js';
import { getEvents } from '../events/events.answer.js';

export interface TestDialogProps {
  endpoint: Endpoint;
  onClose: () => void;
}

/** Sends an example of an event, and shows what the endpoint answers. */
export function TestDialog({ endpoint, onClose }: TestDialogProps) {
  const { answer, error, reload } = useAnswer(getEvents, '');
  return (
    <Dialog title={words.test.title} onClose={onClose}>
      <Problem error={error} onRetry={reload} />
      {!answer && !error && <p role="status">{words.shell.loading}</p>}
      {answer && <TestForm endpoint={endpoint} catalogue={answer.events} onClose={onClose} />}
    </Dialog>
  );
}

function TestForm({ endpoint: { id, events }, catalogue, onClose }: TestDialogProps & { catalogue: CatalogueEvent[] }) {
  const names = catalogue.map(({ name }) => name);
  const [event, setEvent] = useState(names.find((name) => events?.includes(name)) ?? names[0] ?? words.test.plain);
  const [attempt, setAttempt] = useState<Attempt>();
  const send = useChange(async () => {
    setAttempt(undefined);
    const sent = await request<{ attempt: Attempt }>('POST', path`endpoints/${id}/test`, { body: { event } });
    setAttempt(sent.attempt);
  });
  const field = { label: words.test.event, value: event, onValue: setEvent };
  return (
    <Form onSubmit={send.run}>
      <p>{words.test.lead}</p>
      {names.length > 0 ? (
        <SelectField {...field} options={names.map((name) => [name, toPlainText(name, 80)])} />
      ) : (
        <TextField {...field} hint={words.test.eventHint} />
      )}
      <Problem error={send.error} />
      <div role="status">
        {attempt && (
          <section class="attempt" aria-label={words.test.result}>
            <AttemptResult attempt={attempt} />
          </section>
        )}
      </div>
      <div class="actions">
        <Button type="submit" look="primary" changes isBusy={send.isBusy}>
          {attempt ? words.test.again : words.test.send}
        </Button>
        <Button onClick={onClose}>{words.actions.close}</Button>
      </div>
    </Form>
  );
}
