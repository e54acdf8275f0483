import { Fragment } from 'preact';

import { PlainText } from '../../components/plain-text.component.js';
import { hrefOf } from '../../shell/hash.router.js';

/** Maximum number of names shown. */
const MAX_NAMES = 20;

/** Destinations that this process has found to be down. */
export function DownDestinations({ names }: { names: string[] }) {
  if (names.length === 0) return null;
  return (
    <section class="problem" aria-label="Destinations that are down">
      <p>
        {names.length === 1 ? 'One destination is down: ' : `${names.length.toLocaleString()} destinations are down: `}
        {names.slice(0, MAX_NAMES).map((name, index) => (
          <Fragment key={name}>
            {index > 0 && ', '}
            <PlainText value={name} max={60} href={hrefOf('deliveries', { destination: name, state: 'waiting' })} />
          </Fragment>
        ))}
        {names.length > MAX_NAMES && ` and ${names.length - MAX_NAMES} more`}. {names.length === 1 ? 'Its' : 'Their'}{' '}
        deliveries wait.
      </p>
    </section>
  );
}
