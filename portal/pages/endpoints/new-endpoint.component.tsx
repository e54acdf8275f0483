import { useChange } from '../../../dashboard/api/change.hook.js';
import { PageHeading } from '../../../dashboard/components/page-heading.component.js';
import { goTo, hrefOf } from '../../../dashboard/shell/hash.router.js';
import type { Endpoint } from '../../api/portal.answers.js';
import { request } from '../../api/portal.client.js';
import { Breadcrumb } from '../../components/breadcrumb.component.js';
import { notifyNext } from '../../components/notice.state.js';
import { words } from '../../words/words.js';
import { EndpointForm } from './endpoint-form.component.js';
import { type Draft, NEW, toBody } from './endpoint.draft.js';

/** Adds an endpoint. */
export default function NewEndpoint() {
  const create = useChange(async (draft: Draft) => {
    const { id } = await request<Endpoint>('POST', 'endpoints', { body: toBody(draft) });
    notifyNext(words.form.created);
    goTo(hrefOf('endpoints', {}, id));
  });
  return (
    <>
      <Breadcrumb href={hrefOf('endpoints')}>{words.endpoint.breadcrumb}</Breadcrumb>
      <PageHeading title={words.form.newTitle} />
      <EndpointForm
        initial={NEW}
        isNew
        submitLabel={words.form.create}
        change={create}
        onCancel={() => goTo(hrefOf('endpoints'))}
      />
    </>
  );
}
