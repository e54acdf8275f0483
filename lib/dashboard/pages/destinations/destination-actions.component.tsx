import { useState } from 'preact/hooks';

import { path, request } from '../../api/api.client.js';
import { toSentence } from '../../api/api.error.js';
import { useChange } from '../../api/change.hook.js';
import { Button } from '../../components/button.component.js';
import { GeneratedSecret } from '../../components/generated-secret.dialog.js';
import { notify } from '../../components/notice.state.js';
import { RemoveDialog } from '../../components/remove.dialog.js';
import { RotateDialog } from '../../components/rotate.dialog.js';
import { goTo, hrefOf } from '../../shell/hash.router.js';
import { SECRET_ADVICE } from './create-destination.component.js';
import { type Destination, whyFixed } from './destination.answer.js';
import { TestDialog } from './test.dialog.js';

type Opened = { dialog: 'test' | 'rotate' | 'remove' } | { dialog: 'secret'; secret: string };

/** Buttons and dialogs for the actions on a destination. */
export function DestinationActions({ destination, onChanged }: { destination: Destination; onChanged: () => void }) {
  const { name, enabled, paused, signed } = destination;
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const fixed = whyFixed(destination);
  const route = path`destinations/${name}`;
  const change = useChange(async (method: 'POST' | 'PATCH', verb: string, done: string, body?: object) => {
    try {
      await request(method, route + verb, { body });
      notify(done);
    } catch (error) {
      notify(toSentence(error), 'failed');
    }
    onChanged();
  });
  const shared = { changes: true, isBusy: change.isBusy, disabledReason: fixed };
  return (
    <>
      <div class="actions">
        <Button {...shared} onClick={() => goTo(hrefOf('destinations', { edit: 'true' }, name))}>
          Edit
        </Button>
        {paused ? (
          <Button {...shared} onClick={() => change.run('POST', '/resume', 'Resumed: queued messages are sent.')}>
            Resume
          </Button>
        ) : (
          <Button {...shared} onClick={() => change.run('POST', '/pause', 'Paused: its messages are queued.')}>
            Pause
          </Button>
        )}
        <Button
          {...shared}
          onClick={() =>
            change.run('PATCH', '', enabled ? 'Disabled: no messages are routed to it.' : 'Enabled.', {
              enabled: !enabled,
            })
          }
        >
          {enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button changes onClick={() => setOpened({ dialog: 'test' })}>
          Send test
        </Button>
        <Button {...shared} onClick={() => setOpened({ dialog: 'rotate' })}>
          {signed ? 'Rotate secret' : 'Set secret'}
        </Button>
        <Button {...shared} look="danger" onClick={() => setOpened({ dialog: 'remove' })}>
          Remove
        </Button>
      </div>
      {fixed && <p class="hint">{fixed} It cannot be changed here.</p>}
      {opened?.dialog === 'test' && <TestDialog name={name} onClose={close} />}
      {opened?.dialog === 'rotate' && (
        <RotateDialog
          what="Secret"
          route={`${route}/rotate-secret`}
          field="secret"
          answer="sharedSecret"
          advice="Until the overlap ends, requests are signed with both secrets, so you can update the receiver at any time before then."
          onRotated={(secret) => {
            notify('The secret has been rotated.');
            if (secret === undefined) close();
            else setOpened({ dialog: 'secret', secret });
            onChanged();
          }}
          onClose={close}
        />
      )}
      {opened?.dialog === 'secret' && (
        <GeneratedSecret what="Secret" secret={opened.secret} advice={SECRET_ADVICE} onClose={close} />
      )}
      {opened?.dialog === 'remove' && (
        <RemoveDialog
          kind="destination"
          name={name}
          onRemoved={() => {
            notify('The destination has been removed.');
            goTo(hrefOf('destinations'));
          }}
          onClose={close}
        >
          <QueuedDeliveries destination={destination} />
        </RemoveDialog>
      )}
    </>
  );
}

/** Says what a removal means for queued deliveries. */
function QueuedDeliveries({ destination: { figures } }: { destination: Destination }) {
  const { queued = 0, delivering = 0, waiting = 0 } = figures.counts;
  const open = queued + delivering + waiting;
  if (open === 0) return <p>It has no deliveries in the queue.</p>;
  return (
    <p class="warning">
      Deliveries in the queue: {open.toLocaleString()}. They become dead, with the reason “destination removed”.
      Requests in flight are finished first.
    </p>
  );
}
