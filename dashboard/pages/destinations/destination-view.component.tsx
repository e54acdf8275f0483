import { get, path } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Answered } from '../../components/answered.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { Problem } from '../../components/problem.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { DestinationActions } from './destination-actions.component.js';
import type { Destination } from './destination.answer.js';
import { DestinationFailures } from './destination-failures.component.js';
import { DestinationHours } from './destination-hours.component.js';
import { DestinationOptions } from './destination-options.component.js';
import { DestinationStatus } from './destination-status.component.js';
import { EditDestination } from './edit-destination.component.js';

/** Time between two readings of the destination, in ms. */
const EVERY = 5_000;

/** One destination: its actions, status and options. */
export function DestinationView({ name, isEdited }: { name: string; isEdited: boolean }) {
  const loaded = useAnswer(
    (signal, isPoll) => get<Destination>(path`destinations/${name}`, { query: { figures: 'true' }, signal, isPoll }),
    name,
    EVERY,
  );
  const { answer, error, reload } = loaded;
  return (
    <>
      <PageHeading title={toPlainText(name)}>
        <a href={hrefOf('destinations')}>All destinations</a>
      </PageHeading>
      <Problem error={error} onRetry={reload} />
      {error?.status === 404 && (
        <p>
          <a href={hrefOf('deliveries', { destination: name })}>Deliveries to this name</a> may still be in the queue.
        </p>
      )}
      {answer && isEdited && <EditDestination destination={answer} onChanged={reload} />}
      {answer && !isEdited && (
        <Answered from={loaded}>
          <DestinationActions destination={answer} onChanged={reload} />
          <div class="columns">
            <div>
              <DestinationStatus destination={answer} />
              <DestinationFailures name={name} />
              <DestinationHours name={name} />
            </div>
            <DestinationOptions destination={answer} />
          </div>
        </Answered>
      )}
    </>
  );
}
