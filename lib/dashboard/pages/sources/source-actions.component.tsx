import { useState } from 'preact/hooks';

import { path } from '../../api/api.client.js';
import { Button } from '../../components/button.component.js';
import { GeneratedSecret } from '../../components/generated-secret.dialog.js';
import { notify } from '../../components/notice.state.js';
import { RemoveDialog } from '../../components/remove.dialog.js';
import { RotateDialog } from '../../components/rotate.dialog.js';
import { goTo, hrefOf } from '../../shell/hash.router.js';
import { whyFixed } from '../destinations/destination.answer.js';
import { KEY_ADVICE } from './create-source.dialog.js';
import type { Source } from './source.answer.js';

type Opened = { dialog: 'rotate' | 'remove' } | { dialog: 'key'; key: string };

/** Buttons and dialogs for the actions on a source. */
export function SourceActions({ source, onChanged }: { source: Source; onChanged: () => void }) {
  const { name } = source;
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const fixed = whyFixed(source);
  return (
    <>
      <div class="actions">
        <Button changes disabledReason={fixed} onClick={() => setOpened({ dialog: 'rotate' })}>
          Rotate write key
        </Button>
        <Button changes disabledReason={fixed} look="danger" onClick={() => setOpened({ dialog: 'remove' })}>
          Remove
        </Button>
      </div>
      {fixed && <p class="hint">{fixed} It cannot be changed here.</p>}
      {opened?.dialog === 'rotate' && (
        <RotateDialog
          what="Write key"
          route={path`sources/${name}/rotate-key`}
          field="key"
          answer="writeKey"
          advice="Until the overlap ends, messages with either key are accepted, so you can update clients at any time before then."
          onRotated={(key) => {
            notify('The write key has been rotated.');
            if (key === undefined) close();
            else setOpened({ dialog: 'key', key });
            onChanged();
          }}
          onClose={close}
        />
      )}
      {opened?.dialog === 'key' && (
        <GeneratedSecret what="Write key" secret={opened.key} advice={KEY_ADVICE} onClose={close} />
      )}
      {opened?.dialog === 'remove' && (
        <RemoveDialog
          kind="source"
          name={name}
          onRemoved={() => {
            notify('The source has been removed.');
            goTo(hrefOf('sources'));
          }}
          onClose={close}
        >
          <p>From then on, messages with its write key are refused. Messages already accepted are still delivered.</p>
        </RemoveDialog>
      )}
    </>
  );
}
