import { path } from '../../../dashboard/api/api.client.js';
import { useAnswer } from '../../../dashboard/api/answer.hook.js';
import { useChange } from '../../../dashboard/api/change.hook.js';
import { PageHeading } from '../../../dashboard/components/page-heading.component.js';
import { goTo, hrefOf } from '../../../dashboard/shell/hash.router.js';
import type { EndpointDetails } from '../../api/portal.answers.js';
import { get, request } from '../../api/portal.client.js';
import { Breadcrumb } from '../../components/breadcrumb.component.js';
import { notifyNext } from '../../components/notice.state.js';
import { Problem } from '../../components/problem.component.js';
import { words } from '../../words/words.js';
import { EndpointForm } from './endpoint-form.component.js';
import { type Draft, toChange, toDraft } from './endpoint.draft.js';

/** Changes an endpoint. */
export default function EditEndpoint({ id }: { id: string }) {
  const load = (signal: AbortSignal) => get<EndpointDetails>(path`endpoints/${id}`, { signal });
  const { answer, error, reload } = useAnswer(load, id);
  const href = hrefOf('endpoints', {}, id);
  const change = useChange(async (draft: Draft) => {
    const body = toChange(draft, toDraft(answer!));
    if (Object.keys(body).length > 0) await request('PATCH', path`endpoints/${id}`, { body });
    notifyNext(words.form.saved);
    goTo(href);
  });
  return (
    <>
      <Breadcrumb href={href}>{words.delivery.breadcrumb}</Breadcrumb>
      <PageHeading title={words.form.editTitle} />
      <Problem error={error} onRetry={reload} />
      {answer && (
        <EndpointForm
          initial={toDraft(answer)}
          submitLabel={words.actions.save}
          change={change}
          onCancel={() => goTo(href)}
        />
      )}
    </>
  );
}
