import { useState } from 'preact/hooks';

import { path } from '../../../dashboard/api/api.client.js';
import { useChange } from '../../../dashboard/api/change.hook.js';
import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { goTo, hrefOf } from '../../../dashboard/shell/hash.router.js';
import type { Endpoint } from '../../api/portal.answers.js';
import { request } from '../../api/portal.client.js';
import { Button } from '../../components/button.component.js';
import { FormDialog } from '../../components/form.dialog.js';
import { notifyNext } from '../../components/notice.state.js';
import { words } from '../../words/words.js';
import { TestDialog } from './test.dialog.js';

/** Buttons for the actions on an endpoint, with their dialogs. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const { id } = endpoint;
  const [opened, setOpened] = useState<'test' | 'remove'>();
  const close = () => setOpened(undefined);
  return (
    <>
      <Button changes look="primary" onClick={() => setOpened('test')}>
        {words.endpoint.test}
      </Button>
      <Button changes onClick={() => goTo(hrefOf('endpoints', {}, id, 'edit'))}>
        {words.endpoint.edit}
      </Button>
      <Button changes look="danger" onClick={() => setOpened('remove')}>
        {words.endpoint.remove}
      </Button>
      {opened === 'test' && <TestDialog endpoint={endpoint} onClose={close} />}
      {opened === 'remove' && <RemoveDialog endpoint={endpoint} onClose={close} />}
    </>
  );
}

function RemoveDialog({ endpoint: { id, url }, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const remove = useChange(async () => {
    await request('DELETE', path`endpoints/${id}`);
    notifyNext(words.remove.done);
    goTo(hrefOf('endpoints'));
  });
  return (
    <FormDialog
      title={words.remove.title}
      label={words.remove.remove}
      look="danger"
      change={remove}
      error={remove.error}
      onClose={onClose}
    >
      <p class="mono">
        <PlainText value={url} max={500} />
      </p>
      <p>{words.remove.lead}</p>
    </FormDialog>
  );
}
