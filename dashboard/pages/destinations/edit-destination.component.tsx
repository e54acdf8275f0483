import { useState } from 'preact/hooks';

import { get, path, request } from '../../api/api.client.js';
import { ApiError } from '../../api/api.error.js';
import { useChange } from '../../api/change.hook.js';
import { showSecret } from '../../components/generated-secret.dialog.js';
import { notify } from '../../components/notice.state.js';
import { Problem } from '../../components/problem.component.js';
import { goTo, hrefOf } from '../../shell/hash.router.js';
import type { Destination } from './destination.answer.js';
import { type Draft, hasNewOrigin, toDraft, toPatch } from './destination.draft.js';
import { DestinationForm } from './destination-form.component.js';
import type { CreatedDestination } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';

export interface EditDestinationProps {
  /** Its current state. */
  destination: Destination;
  onChanged: () => void;
}

/** Changes a destination, unless someone else has changed it since the form was opened. */
export function EditDestination({ destination, onChanged }: EditDestinationProps) {
  const [opened, setOpened] = useState(destination);
  const isOutdated = destination.updatedAt !== opened.updatedAt;
  return (
    <>
      {isOutdated && (
        <Problem
          error="the destination has been changed since this form was opened. Reload it and make your changes again"
          retryLabel="Reload"
          onRetry={() => setOpened(destination)}
        />
      )}
      <EditForm key={opened.updatedAt} opened={opened} onChanged={onChanged} />
    </>
  );
}

function EditForm({ opened, onChanged }: { opened: Destination; onChanged: () => void }) {
  const route = path`destinations/${opened.name}`;
  const initial = toDraft(opened);
  const close = () => goTo(hrefOf('destinations', {}, opened.name));
  const save = useChange(async (draft: Draft) => {
    const patch: Record<string, unknown> = toPatch(initial, draft);
    if (opened.signed && hasNewOrigin(draft, opened)) patch.sharedSecret ??= null; // generates one
    let secret: string | undefined;
    if (Object.keys(patch).length > 0) {
      const { updatedAt } = await get<Destination>(route);
      if (updatedAt !== opened.updatedAt) {
        onChanged();
        throw new ApiError(409, 'destination_changed', 'not saved: someone else has changed the destination');
      }
      ({ sharedSecret: secret } = await request<CreatedDestination>('PATCH', route, { body: patch }));
      notify('The destination has been changed.');
      onChanged();
    }
    close();
    if (secret !== undefined) showSecret('destination', secret);
  });
  return <DestinationForm initial={initial} present={opened} submitLabel="Save" change={save} onCancel={close} />;
}
