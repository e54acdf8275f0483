import { useState } from 'preact/hooks';

import { BASE, path, request } from '../../api/api.client.js';
import { toSentence } from '../../api/api.error.js';
import { useChange } from '../../api/change.hook.js';
import { Button } from '../../components/button.component.js';
import { EntryActions, whyFixed } from '../../components/entry-actions.component.js';
import { notify } from '../../components/notice.state.js';
import { goTo, hrefOf } from '../../shell/hash.router.js';
import type { Destination } from './destination.answer.js';
import { DisableDialog } from './disable.dialog.js';
import { TestDialog } from './test.dialog.js';

/** Buttons and dialogs for the actions on a destination. */
export function DestinationActions({ destination, onChanged }: { destination: Destination; onChanged: () => void }) {
  const { name, enabled, paused, disabled, signed, tenant } = destination;
  const [opened, setOpened] = useState<'disable' | 'test'>();
  const close = () => setOpened(undefined);
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
  const viewAs = useChange(async () => {
    try {
      const { url } = await request<{ url: string }>('POST', 'portal/links', { body: { tenant } });
      // A proxy may rewrite the path.
      window.open(new URL(`portal/${url.slice(url.indexOf('#'))}`, BASE), '_blank', 'noopener');
    } catch (error) {
      notify(toSentence(error), 'failed');
    }
  });
  const shared = { changes: true, isBusy: change.isBusy, disabledReason: whyFixed(destination) };
  return (
    <>
      <EntryActions
        kind="destination"
        entry={destination}
        rotateLabel={signed ? 'Rotate secret…' : 'Set secret…'}
        previousUntil={destination.previousSecretUntil}
        removal={<QueuedDeliveries destination={destination} />}
        isBusy={change.isBusy}
        onChanged={onChanged}
      >
        <Button {...shared} onClick={() => goTo(hrefOf('destinations', { edit: 'true' }, name))}>
          Edit
        </Button>
        {disabled && (
          <Button
            {...shared}
            look="primary"
            onClick={() => change.run('POST', '/enable', 'Enabled. Replay its dead deliveries to send what it missed.')}
          >
            Enable endpoint
          </Button>
        )}
        {paused ? (
          <Button {...shared} onClick={() => change.run('POST', '/resume', 'Resumed: queued messages are sent.')}>
            Resume
          </Button>
        ) : (
          <Button {...shared} onClick={() => change.run('POST', '/pause', 'Paused: its messages are queued.')}>
            Pause
          </Button>
        )}
        {enabled ? (
          <Button {...shared} onClick={() => setOpened('disable')}>
            Disable…
          </Button>
        ) : (
          <Button {...shared} onClick={() => change.run('PATCH', '', 'Enabled.', { enabled: true })}>
            Enable
          </Button>
        )}
        <Button changes onClick={() => setOpened('test')}>
          Send test…
        </Button>
        {tenant !== undefined && (
          <Button isBusy={viewAs.isBusy} onClick={() => viewAs.run()}>
            View as tenant
          </Button>
        )}
      </EntryActions>
      {opened === 'disable' && <DisableDialog name={name} onDisabled={onChanged} onClose={close} />}
      {opened === 'test' && <TestDialog name={name} onClose={close} />}
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
