import { useEffect, useState } from 'preact/hooks';

import { get, path } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Facts } from '../../components/facts.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { Problem } from '../../components/problem.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { Delivery } from './delivery.answer.js';
import { DeliveryRequest } from './delivery-request.component.js';
import { DeliveryVerdict } from './delivery-verdict.component.js';
import { ReplayButton } from './replay-button.component.js';
import { ReplayDialog } from './replay.dialog.js';
import { Timeline } from './timeline.component.js';

/** Time between two readings of an unfinished delivery, in ms. */
const EVERY = 2_000;

/** One delivery: what happened to it, and why. */
export function DeliveryView({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(true);
  const [replays, setReplays] = useState(false);
  const load = (signal: AbortSignal, isPoll: boolean) => get<Delivery>(path`deliveries/${id}`, { signal, isPoll });
  const { answer, error, reload } = useAnswer(load, id, isOpen ? EVERY : undefined);
  const state = answer?.state;
  const isGone = error?.status === 404;
  useEffect(() => setOpen(!isGone && state !== 'delivered' && state !== 'dead'), [state, isGone]);
  const name = answer?.event ?? answer?.type;
  return (
    <>
      <PageHeading title={name === undefined ? 'Delivery' : `Delivery of ${toPlainText(name, 120)}`}>
        {answer && <ReplayButton delivery={answer} onDialog={() => setReplays(true)} onReplayed={reload} />}
      </PageHeading>
      <Problem error={error} onRetry={reload} />
      {isGone && (
        <p>
          Delivered and dead deliveries are kept for a limited time. <a href={hrefOf('deliveries')}>All deliveries</a>
        </p>
      )}
      {answer && (
        <>
          <DeliveryVerdict delivery={answer} />
          <Fields delivery={answer} />
          <div class="delivery">
            <Timeline delivery={answer} />
            <DeliveryRequest delivery={answer} />
          </div>
        </>
      )}
      {answer && replays && <ReplayDialog delivery={answer} onClose={() => setReplays(false)} onReplayed={reload} />}
    </>
  );
}

/** Fields of the delivery, with links to the deliveries that share them. */
function Fields({ delivery }: { delivery: Delivery }) {
  const { userId, messageId, destination, source, type, trace, request } = delivery;
  return (
    <section class="panel" aria-label="Delivery">
      <Facts
        facts={[
          [
            'User',
            <div class="links">
              <NameLink of="users" name={userId} max={200} />
              {userId !== undefined && <a href={hrefOf('deliveries', { userId })}>All deliveries for this user</a>}
            </div>,
          ],
          [
            'Message',
            <div class="links">
              <span class="mono">
                <PlainText value={messageId} />
              </span>
              <a href={hrefOf('deliveries', { messageId, source })}>All deliveries of this message</a>
            </div>,
          ],
          [
            'Destination',
            <div class="links">
              <PlainText value={destination} href={request && hrefOf('destinations', {}, destination)} />
              <a href={hrefOf('deliveries', { destination })}>All deliveries to this destination</a>
            </div>,
          ],
          ['Source', <NameLink of="sources" name={source} max={200} />],
          ['Type', <PlainText value={type} />],
          ['Trace', trace && <span class="mono">{toPlainText(trace.split('-')[1])}</span>],
        ]}
      />
    </section>
  );
}
