import { useMemo } from 'preact/hooks';

import type { TextFindings } from '../../../lib/webhook-destination/admin/api/text-search.js';
import { useAnswer } from '../../api/answer.hook.js';
import { get } from '../../api/api.client.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { Problem } from '../../components/problem.component.js';
import type { Route } from '../../shell/hash.router.js';
import { searchFields } from '../../shell/session.state.js';
import type { DeliverySummary } from '../deliveries/delivery.answer.js';
import { FoundDeliveries, nameOfQuery } from './found-deliveries.component.js';
import { FoundEntries } from './found-entries.component.js';
import { FoundRefusals } from './found-refusals.component.js';
import { FoundReplay } from './found-replay.component.js';
import { useOlderDeliveries } from './older-deliveries.hook.js';

/** An answer of `GET search`. */
interface Findings extends Omit<TextFindings, 'found'> {
  found: { query: Record<string, string>; deliveries: DeliverySummary[]; more: boolean }[];
}

/** Whatever the text in the hash names: `#/search?text=<text>`. */
export default function SearchPage({ route: { query } }: { route: Route }) {
  const text = query.get('text') ?? '';
  const { answer, error, reload } = useAnswer(
    (signal, isPoll) => get<Findings>('search', { query: { text }, signal, isPoll }),
    text,
  );
  const unfinished = useMemo(() => queriesOf(answer?.found.filter(isNoneYet)), [answer]);
  const older = useOlderDeliveries(unfinished);
  const found = [...(answer?.found.filter((one) => !isNoneYet(one)) ?? []), ...older.found];
  return (
    <>
      <PageHeading title="Search">
        <Button onClick={reload}>Search again</Button>
      </PageHeading>
      <Problem error={error} onRetry={reload} />
      {!answer && !error && (
        <p class="hint" role="status">
          Searching…
        </p>
      )}
      {answer && (
        <>
          {answer.replay && <FoundReplay replay={answer.replay} />}
          {found.map((one) => (
            <FoundDeliveries key={JSON.stringify(one.query)} {...one} />
          ))}
          <FoundRefusals refusals={answer.refusals} />
          <FoundEntries kind="destinations" entries={answer.destinations} />
          <FoundEntries kind="sources" entries={answer.sources} />
          {older.current && (
            <p class="actions" role="status">
              Searching older deliveries by {nameOfQuery(older.current)}… <Button onClick={older.stop}>Stop</Button>
            </p>
          )}
          <Problem error={older.error} onRetry={reload} />
          {older.isStopped && <p class="hint">Older deliveries have not all been searched.</p>}
          {!older.current && !older.isStopped && isEmpty({ ...answer, found }) && (
            <EmptyState title="Nothing found.">
              <p>
                Searched were ids of deliveries, bulk replays, messages (refused ones as well) and users, anonymous ids,
                names of destinations and sources, values of metadata
                {searchFields.value.length > 0 && `, and ${searchFields.value.join(', ')} of messages`}. Delivered and
                dead deliveries are kept for a limited time.
              </p>
            </EmptyState>
          )}
        </>
      )}
    </>
  );
}

/** Whether only the newest deliveries were read, without finding any. */
const isNoneYet = ({ deliveries }: Findings['found'][number]) => deliveries.length === 0;

const queriesOf = (found: Findings['found'] = []) => found.map(({ query }) => query);

function isEmpty({ replay, found, refusals, destinations, sources }: Findings): boolean {
  const count = refusals.length + destinations.length + sources.length;
  return !replay && count + found.length === 0;
}
