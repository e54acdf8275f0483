import { request } from '../../api/api.client.js';
import { useChange } from '../../api/change.hook.js';
import { showSecret } from '../../components/generated-secret.dialog.js';
import { notify } from '../../components/notice.state.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { goTo, hrefOf } from '../../shell/hash.router.js';
import type { CreatedDestination } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';
import { type Draft, EMPTY_DRAFT, toOptions } from './destination.draft.js';
import { DestinationForm } from './destination-form.component.js';

export function CreateDestination() {
  const create = useChange(async (draft: Draft) => {
    const entry = await request<CreatedDestination>('POST', 'destinations', { body: toOptions(draft) });
    notify('The destination has been created.');
    const open = () => goTo(hrefOf('destinations', {}, entry.name));
    if (entry.sharedSecret === undefined) open();
    else showSecret('destination', entry.sharedSecret, open);
  });
  return (
    <>
      <PageHeading title="New destination" />
      <DestinationForm
        initial={EMPTY_DRAFT}
        submitLabel="Create"
        change={create}
        onCancel={() => goTo(hrefOf('destinations'))}
      />
    </>
  );
}
