import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Facts } from '../../components/facts.component.js';
import { JsonView } from '../../components/json-view.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Problem } from '../../components/problem.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { TimeAndAge } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { callerOf, hrefOfTarget, type WholeEntry } from './activity.entry.js';
import { DeletionProof } from './deletion-proof.component.js';

/** An entry of the activity. */
export function ActivityView({ id }: { id: string }) {
  const {
    answer: entry,
    error,
    reload,
  } = useAnswer((signal) => get<WholeEntry>(`activity/${encodeURIComponent(id)}`, { signal }), id);
  return (
    <>
      <PageHeading title={entry?.action ?? 'Activity'}>
        <a href={hrefOf('activity')}>All activity</a>
      </PageHeading>
      <Problem error={error} onRetry={reload} />
      {error?.status === 404 && <p>Entries are kept for 90 days.</p>}
      {entry && <Entry entry={entry} />}
      {entry?.deletion && <DeletionProof entry={entry} deletion={entry.deletion} />}
      {entry?.details && <JsonView text={JSON.stringify(entry.details)} name="Details" />}
    </>
  );
}

function Entry({ entry }: { entry: WholeEntry }) {
  const { at, user, address, target, result, count = 1, lastAt, deletion } = entry;
  return (
    <section class="panel">
      <Facts
        facts={[
          ['When', <TimeAndAge at={at} />],
          ['Who', <PlainText value={callerOf(entry)} href={user && hrefOf('activity', { who: user })} />],
          ['Address', address && <PlainText value={address} href={hrefOf('activity', { who: address })} />],
          ['About', deletion ? undefined : target && <PlainText value={target} href={hrefOfTarget(entry)} />],
          ['Result', <StateBadge state={result} />],
          ['Times', count > 1 ? count.toLocaleString() : undefined],
          ['Last time', count > 1 ? <TimeAndAge at={lastAt!} /> : undefined],
        ]}
      />
    </section>
  );
}
