import { useState } from 'preact/hooks';

import { path, request } from '../../api/api.client.js';
import { ApiError } from '../../api/api.error.js';
import { useChange } from '../../api/change.hook.js';
import { toFieldFaults } from '../../api/field-faults.util.js';
import { Button } from '../../components/button.component.js';
import { Dialog } from '../../components/dialog.component.js';
import { Facts } from '../../components/facts.component.js';
import { TextField } from '../../components/field.component.js';
import { Form } from '../../components/form.component.js';
import { KeptAnswer } from '../../components/kept-answer.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Problem } from '../../components/problem.component.js';
import { TextAreaField } from '../../components/text-area-field.component.js';
import { Duration } from '../../components/time.component.js';
import { answerOf, OUTCOMES } from '../deliveries/attempt-answer.component.js';
import type { AttemptRecord } from '../../../lib/webhook-destination/queue/attempt-record.interface.js';

/** Sends one message now, and shows the attempt. */
export function TestDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [event, setEvent] = useState('Test Event');
  const [userId, setUserId] = useState('');
  const [properties, setProperties] = useState('');
  const [attempt, setAttempt] = useState<AttemptRecord>();
  const send = useChange(async () => {
    setAttempt(undefined);
    const body = {
      event,
      ...(userId !== '' && { userId }),
      ...(properties !== '' && { properties: parse(properties) }),
    };
    setAttempt(await request<AttemptRecord>('POST', path`destinations/${name}/test`, { body }));
  });
  const { byField, rest } = toFieldFaults(send.error, ['properties']);
  return (
    <Dialog title="Send a test" onClose={onClose}>
      <p class="hint">
        Sends one track message to the receiver now, outside the queue, even while the destination is paused or
        disabled.
      </p>
      <Form onSubmit={() => send.run()}>
        <TextField label="Event" value={event} onValue={setEvent} />
        <TextField label="User" value={userId} onValue={setUserId} hint="Empty: an anonymous user." />
        <TextAreaField
          label="Properties, as JSON"
          value={properties}
          onValue={setProperties}
          placeholder={'{ "orderId": "o1" }'}
          error={byField.properties}
        />
        <Problem error={rest} />
        <div class="actions">
          <Button type="submit" look="primary" changes isBusy={send.isBusy}>
            {attempt ? 'Send again' : 'Send'}
          </Button>
          <Button onClick={onClose}>Close</Button>
        </div>
      </Form>
      <div class="test-result" role="status">
        {attempt && <Attempt {...attempt} />}
      </div>
    </Dialog>
  );
}

function Attempt({ results }: AttemptRecord) {
  if (results.length === 0) return <p>Nothing was sent: the destination's transform dropped this message.</p>;
  return results.map(({ url, outcome, status, duration, error, answer }) => (
    <div key={url}>
      <Facts
        facts={[
          ['URL', <PlainText value={url} max={url.length} />],
          ['Result', <span class={`badge ${OUTCOMES[outcome].look}`}>{OUTCOMES[outcome].text}</span>],
          ['Status', answerOf({ status })],
          ['Latency', <Duration ms={duration} />],
          ['Error', error && <PlainText value={error} max={1_000} />],
        ]}
      />
      {answer && <KeptAnswer answer={answer} />}
    </div>
  ));
}

/** @throws {ApiError} for text that is not JSON */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(0, 'json_invalid', 'properties must be JSON', 'properties');
  }
}
