import { Fragment } from 'preact';

import { PlainText } from '../../components/plain-text.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { Overview } from './overview.answer.js';

/** Maximum number of names shown. */
const MAX_NAMES = 20;

/** Destinations that this process has found to be down. */
export function DownDestinations({ down, destinations }: Pick<Overview, 'down' | 'destinations'>) {
  if (down === 0) return null;
  const names = destinations.flatMap((row) => (row.down ? row.destination : [])).slice(0, MAX_NAMES);
  return (
    <section class="problem" aria-label="Destinations that are down">
      <p>
        {down === 1 ? 'One destination is down: ' : `${down.toLocaleString()} destinations are down: `}
        {names.map((name, index) => (
          <Fragment key={name}>
            {index > 0 && ', '}
            <PlainText value={name} max={60} href={hrefOf('deliveries', { destination: name, state: 'waiting' })} />
          </Fragment>
        ))}
        {down > names.length && ` and ${(down - names.length).toLocaleString()} more`}. {down === 1 ? 'Its' : 'Their'}{' '}
        deliveries wait.
      </p>
    </section>
  );
}
