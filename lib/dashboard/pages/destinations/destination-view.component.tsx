import { useState } from 'preact/hooks';

import { get, path, request } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { useChange } from '../../api/change.hook.js';
import { notify } from '../../components/notice.state.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { Problem } from '../../components/problem.component.js';
import { goTo, hrefOf } from '../../shell/hash.router.js';
import { DestinationActions } from './destination-actions.component.js';
import type { Destination } from './destination.answer.js';
import { type Draft, toDraft, toPatch } from './destination.draft.js';
import { DestinationFailures } from './destination-failures.component.js';
import { DestinationForm } from './destination-form.component.js';
import { DestinationHours } from './destination-hours.component.js';
import { DestinationOptions } from './destination-options.component.js';
import { DestinationStatus } from './destination-status.component.js';

/** Time between two readings of the destination, in ms. */
const EVERY = 5_000;

/** One destination: its actions, status and options. */
export function DestinationView({ name, isEdited }: { name: string; isEdited: boolean }) {
  const { answer, error, reload } = useAnswer(
    (signal) => get<Destination>(path`destinations/${name}`, { query: { figures: 'true' }, signal }),
    name,
    EVERY,
  );
  return (
    <>
      <PageHeading title={toPlainText(name)}>
        <a href={hrefOf('destinations')}>All destinations</a>
      </PageHeading>
      <Problem error={error} onRetry={reload} />
      {answer && isEdited && <Edit destination={answer} onChanged={reload} />}
      {answer && !isEdited && (
        <>
          <DestinationActions destination={answer} onChanged={reload} />
          <div class="columns">
            <div>
              <DestinationStatus destination={answer} />
              <DestinationFailures name={name} />
              <DestinationHours name={name} />
            </div>
            <DestinationOptions destination={answer} />
          </div>
        </>
      )}
    </>
  );
}

function Edit({ destination, onChanged }: { destination: Destination; onChanged: () => void }) {
  const [initial] = useState(() => toDraft(destination));
  const view = hrefOf('destinations', {}, destination.name);
  const save = useChange(async (draft: Draft) => {
    const patch = toPatch(initial, draft);
    if (Object.keys(patch).length > 0) {
      await request('PATCH', path`destinations/${destination.name}`, { body: patch });
      notify('The destination has been changed.');
      onChanged();
    }
    goTo(view);
  });
  return (
    <DestinationForm
      initial={initial}
      present={destination}
      submitLabel="Save"
      change={save}
      onCancel={() => goTo(view)}
    />
  );
}
