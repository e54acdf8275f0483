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
import { FoundDeliveries } from './found-deliveries.component.js';
import { FoundEntries } from './found-entries.component.js';
import { FoundReplay } from './found-replay.component.js';

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
          <DeliveriesByField found={answer.found.filter(({ deliveries }) => deliveries.length > 0)} />
          <FoundEntries kind="destinations" entries={answer.destinations} />
          <FoundEntries kind="sources" entries={answer.sources} />
          <DeliveriesByField found={answer.found.filter(({ deliveries }) => deliveries.length === 0)} />
          {isEmpty(answer) && (
            <EmptyState title="Nothing found.">
              <p>
                Searched were ids of deliveries, bulk replays, messages and users, anonymous ids, names of destinations
                and sources, values of metadata
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

function DeliveriesByField({ found }: Pick<Findings, 'found'>) {
  return found.map((one) => <FoundDeliveries key={JSON.stringify(one.query)} {...one} />);
}

function isEmpty({ replay, found, destinations, sources }: Findings): boolean {
  return !replay && found.length + destinations.length + sources.length === 0;
}
