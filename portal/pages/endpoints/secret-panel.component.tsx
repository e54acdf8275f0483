import { useState } from 'preact/hooks';

import { path } from '../../../dashboard/api/api.client.js';
import { useChange } from '../../../dashboard/api/change.hook.js';
import { hrefOf } from '../../../dashboard/shell/hash.router.js';
import type { Endpoint, Secrets } from '../../api/portal.answers.js';
import { get } from '../../api/portal.client.js';
import { Button } from '../../components/button.component.js';
import { Problem } from '../../components/problem.component.js';
import { SecretText } from '../../components/secret-text.component.js';
import { toMinute } from '../../components/time.component.js';
import { words } from '../../words/words.js';
import { RotateDialog } from './rotate.dialog.js';

export interface SecretPanelProps {
  endpoint: Endpoint;
  onChanged: () => void;
}

/** What requests are signed with: a secret, shown on demand, or a public key. */
export function SecretPanel({ endpoint, onChanged }: SecretPanelProps) {
  const { id, signature, publicKey, previousSecretUntil } = endpoint;
  const [shown, setShown] = useState<Secrets>();
  const [isRotating, setRotating] = useState(false);
  const show = useChange(async () => setShown(await get<Secrets>(path`endpoints/${id}/secret`)));
  const isOverlapping = previousSecretUntil !== undefined && previousSecretUntil > Date.now();
  const onRotated = () => {
    setShown(undefined);
    onChanged();
  };
  return (
    <section class="panel">
      <h2>{words.secret.title}</h2>
      <p>{words.secret[signature]}</p>
      {signature === 'v1a' && <SecretText label={words.secret.publicKey} text={publicKey} />}
      {signature === 'v1' && <SecretText label={words.secret.secret} text={shown?.secret} />}
      {shown?.previous !== undefined && <SecretText label={words.secret.previous} text={shown.previous} />}
      {isOverlapping && <p class="warning">{words.secret.overlap(toMinute(previousSecretUntil))}</p>}
      <Problem error={show.error} />
      <div class="actions">
        {signature === 'v1' && (
          <Button changes isBusy={show.isBusy} onClick={shown ? () => setShown(undefined) : show.run}>
            {shown ? words.actions.hide : words.actions.show}
          </Button>
        )}
        <Button changes onClick={() => setRotating(true)}>
          {words.secret.rotate}
        </Button>
      </div>
      <p>
        <a href={hrefOf('signatures')}>{words.secret.how}</a>
      </p>
      {isRotating && (
        <RotateDialog
          endpoint={endpoint}
          isOverlapping={isOverlapping}
          onRotated={onRotated}
          onClose={() => setRotating(false)}
        />
      )}
    </section>
  );
}
