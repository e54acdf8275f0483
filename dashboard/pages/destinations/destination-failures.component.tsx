import { useAnswer } from '../../api/answer.hook.js';
import { getPortion } from '../../api/keyset.hook.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Problem } from '../../components/problem.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { Table } from '../../components/table.component.js';
import { Time } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { answerOf } from '../deliveries/attempt-answer.component.js';
import type { DeliverySummary } from '../deliveries/delivery.answer.js';

/** Maximum number of deliveries shown per state. */
const LIMIT = 5;

const EVERY = 10_000;

/** The newest deliveries of a destination that are waiting for a retry or dead. */
export function DestinationFailures({ name }: { name: string }) {
  const { answer, error, reload } = useAnswer((signal, isPoll) => readFailures(name, signal, isPoll), name, EVERY);
  return (
    <section class="panel">
      <h2>Recent failures</h2>
      <Problem error={error} onRetry={reload} />
      {!answer && !error && <p class="muted">Searching…</p>}
      {answer?.length === 0 && <p class="muted">No deliveries are waiting for a retry or dead.</p>}
      {answer && answer.length > 0 && (
        <Table
          caption="Recent failures"
          rows={answer}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Message',
              cell: ({ id, messageId }) => <PlainText value={messageId} max={60} href={hrefOf('deliveries', {}, id)} />,
            },
            {
              title: 'State',
              look: 'state',
              cell: (delivery) => (
                <>
                  <StateBadge state={delivery.state} />
                  <div class="second-line">
                    <PlainText value={whyOf(delivery)} max={120} />
                  </div>
                </>
              ),
            },
            { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
            { title: 'Last attempt', cell: ({ lastAttempt }) => <Time at={lastAttempt?.startedAt} /> },
          ]}
        />
      )}
    </section>
  );
}

async function readFailures(destination: string, signal: AbortSignal, isPoll: boolean): Promise<DeliverySummary[]> {
  const found = await Promise.all(
    ['waiting', 'dead'].map((state) => readNewest({ destination, state }, signal, isPoll)),
  );
  return found.flat().sort((one, other) => (other.lastAttempt?.startedAt ?? 0) - (one.lastAttempt?.startedAt ?? 0));
}

/** Reads on until there are enough: a portion may have few deliveries, or none, even if more follow. */
async function readNewest(
  filter: Record<string, string>,
  signal: AbortSignal,
  isPoll: boolean,
): Promise<DeliverySummary[]> {
  const newest: DeliverySummary[] = [];
  let cursor: string | undefined;
  do {
    const query = { ...filter, limit: LIMIT - newest.length, cursor };
    const portion = await getPortion<DeliverySummary>('deliveries', query, signal, isPoll);
    newest.push(...portion.rows);
    ({ cursor } = portion);
  } while (cursor !== undefined && newest.length < LIMIT);
  return newest;
}

function whyOf({ reason, lastAttempt }: DeliverySummary): string | undefined {
  const { status, error } = lastAttempt?.results.at(-1) ?? {};
  return reason ?? error ?? (status === undefined ? undefined : answerOf({ status }));
}
