import { useEffect, useState } from 'preact/hooks';

import { path } from '../../../dashboard/api/api.client.js';
import { useAnswer } from '../../../dashboard/api/answer.hook.js';
import { useChange } from '../../../dashboard/api/change.hook.js';
import { Facts } from '../../../dashboard/components/facts.component.js';
import { PageHeading } from '../../../dashboard/components/page-heading.component.js';
import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { toPlainText } from '../../../dashboard/components/plain-text.util.js';
import { hrefOf, type Route } from '../../../dashboard/shell/hash.router.js';
import type { Delivery } from '../../api/portal.answers.js';
import { get, request } from '../../api/portal.client.js';
import { AttemptResult } from '../../components/attempt-result.component.js';
import { Breadcrumb } from '../../components/breadcrumb.component.js';
import { Button } from '../../components/button.component.js';
import { CodeView } from '../../components/code-view.component.js';
import { notify } from '../../components/notice.state.js';
import { Problem } from '../../components/problem.component.js';
import { Time } from '../../components/time.component.js';
import { words } from '../../words/words.js';
import { UnknownPage } from '../unknown.page.js';
import { DeliverySentence } from './delivery-sentence.component.js';

/** Time between two readings of an unfinished delivery, in ms. */
const EVERY = 2_000;

/** One delivery: what happened to it, and why. */
export default function DeliveryPage({ route: { rest } }: { route: Route }) {
  const [id] = rest;
  return id ? <DeliveryView id={id} /> : <UnknownPage />;
}

function DeliveryView({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(true);
  const load = (signal: AbortSignal) => get<Delivery>(path`deliveries/${id}`, { signal });
  const { answer, error, reload } = useAnswer(load, id, isOpen ? EVERY : undefined);
  const state = answer?.state;
  const isGone = error?.status === 404;
  const isSent = state === 'delivered' || state === 'dead';
  useEffect(() => setOpen(!isGone && !isSent), [isSent, isGone]);
  const name = answer?.event ?? answer?.type;
  return (
    <>
      {answer && <Breadcrumb href={hrefOf('endpoints', {}, answer.endpoint)}>{words.delivery.breadcrumb}</Breadcrumb>}
      <PageHeading
        title={name === undefined ? words.delivery.plainTitle : words.delivery.title(toPlainText(name, 120))}
      >
        {answer && <ReplayButton delivery={answer} onReplayed={reload} />}
      </PageHeading>
      <Problem error={error} onRetry={reload} />
      {!answer && !error && <p role="status">{words.shell.loading}</p>}
      {answer && (
        <>
          <DeliverySentence delivery={answer} />
          <div class="columns">
            <Attempts delivery={answer} />
            <Fields delivery={answer} />
          </div>
          {answer.body === undefined ? (
            <p class="hint">{words.delivery.noBody}</p>
          ) : (
            <CodeView name={words.delivery.body} text={answer.body} />
          )}
        </>
      )}
    </>
  );
}

/** Sends again what has ended, and tries now what waits for its next attempt. */
function ReplayButton({ delivery, onReplayed }: { delivery: Delivery; onReplayed: () => void }) {
  const { id, state, nextAttemptAt } = delivery;
  const isWaiting = state === 'waiting' && nextAttemptAt !== undefined;
  const isReplayable = isWaiting || state === 'delivered' || state === 'dead';
  const replay = useChange(async () => {
    await request('POST', path`deliveries/${id}/replay`);
    notify(words.delivery.replayed);
    onReplayed();
  });
  return (
    <>
      <Button
        changes
        look="primary"
        isBusy={replay.isBusy}
        disabledReason={isReplayable ? undefined : words.delivery.isOpen}
        onClick={replay.run}
      >
        {isWaiting ? words.delivery.tryNow : words.delivery.replay}
      </Button>
      <Problem error={replay.error} />
    </>
  );
}

function Attempts({ delivery: { attempts } }: { delivery: Delivery }) {
  return (
    <section class="panel">
      <h2>{words.delivery.attempts}</h2>
      {attempts.length === 0 && <p class="muted">{words.delivery.noAttempts}</p>}
      <ol class="attempts">
        {attempts
          .map((attempt, index) => (
            <li key={index} class="attempt">
              <div class="spread">
                <h3>{words.delivery.attempt(index + 1)}</h3>
                <span class="hint">
                  <Time at={attempt.at} />
                </span>
              </div>
              <AttemptResult attempt={attempt} />
            </li>
          ))
          .reverse()}
      </ol>
    </section>
  );
}

function Fields({ delivery: { event, type, messageId, acceptedAt } }: { delivery: Delivery }) {
  return (
    <section class="panel">
      <h2>{words.delivery.facts}</h2>
      <Facts
        facts={[
          [words.delivery.event, event === undefined ? undefined : <PlainText value={event} />],
          [words.delivery.type, type === undefined ? undefined : <PlainText value={type} />],
          [
            words.delivery.messageId,
            <>
              <span class="mono">
                <PlainText value={messageId} />
              </span>
              <div class="hint">{words.delivery.messageIdHint}</div>
            </>,
          ],
          [words.delivery.acceptedAt, <Time at={acceptedAt} />],
        ]}
      />
    </section>
  );
}
