import { CountLink } from '../../components/count-link.component.js';
import { EntryFault } from '../../components/entry-fault.component.js';
import { type Fact, Facts } from '../../components/facts.component.js';
import { DELIVERY_STATES, StateBadge } from '../../components/state-badge.component.js';
import { type Pace, paceText } from '../../components/pace.util.js';
import { Duration, Time } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { type Destination, isAtLimit, openOf } from './destination.answer.js';
import { HealthBadge, healthOf } from './health-badge.component.js';

const DISABLED_BECAUSE = {
  failing: 'it did not succeed for too long',
  gone: 'it answered 410 Gone',
  asked: 'the receiver asked for it',
};

/** Status of a destination. */
export function DestinationStatus({ destination }: { destination: Destination }) {
  const { name, fault, figures, previousSecretUntil, failingSince, disabled, rateLimit, urls } = destination;
  const { delivered, failed, dead } = figures.recent;
  return (
    <section class="panel">
      <h2>Status</h2>
      <EntryFault fault={fault} />
      <Facts
        facts={[
          ['Health', <HealthBadge hold={destination} health={healthOf(destination)} />],
          ['Failing', failingSince && <>since {<Time at={failingSince} />}</>],
          [
            disabled?.reason === 'paused' ? 'Paused' : 'Disabled',
            disabled && (
              <>
                since {<Time at={disabled.since} />}
                {disabled.reason !== 'paused' && `: ${DISABLED_BECAUSE[disabled.reason]}`}
              </>
            ),
          ],
          [
            'Backlog',
            rateLimit && isActiveAtLimit(destination) ? paceOf(destination, rateLimit, urls.length) : undefined,
          ],
          [
            'Held',
            figures.heldUntil && (
              <>until {<Time at={figures.heldUntil} />}: the receiver asked for no requests (Retry-After)</>
            ),
          ],
          ['Circuit', figures.down ? <OpenCircuit /> : 'closed'],
          ...DELIVERY_STATES.map(([state, title]): Fact => [
            title,
            <CountLink count={figures.counts[state]} href={hrefOf('deliveries', { state, destination: name })} />,
          ]),
          [
            'Last hour',
            `${delivered.toLocaleString()} delivered, ${failed.toLocaleString()} failed attempts, ${dead.toLocaleString()} dead`,
          ],
          ['Attempts', <Latency figures={figures} />],
          ['Previous secret', previousSecretUntil && <>also signs until {<Time at={previousSecretUntil} />}</>],
        ]}
      />
      <p class="actions">
        <a href={hrefOf('deliveries', { destination: name })}>All its deliveries</a>
        <a href={hrefOf('dead', { destination: name })}>Its dead deliveries</a>
        <a href={hrefOf('overview', { destination: name, period: 'day' })}>Figures by the minute</a>
      </p>
    </section>
  );
}

function isActiveAtLimit(destination: Destination): boolean {
  return destination.enabled && !destination.paused && isAtLimit(destination);
}

function paceOf({ figures: { counts, perMinute } }: Destination, rateLimit: Pace['rateLimit'], urls: number): string {
  return paceText({ open: openOf(counts), perMinute, urls, rateLimit });
}

/** Duration of the last hour's attempts. */
function Latency({ figures: { p50, p95 } }: Pick<Destination, 'figures'>) {
  return (
    <>
      p50 <Duration ms={p50} />, p95 <Duration ms={p95} />
    </>
  );
}

function OpenCircuit() {
  return (
    <>
      <StateBadge state="down" label="open" /> The receiver counts as down. One delivery probes it; the others wait.
    </>
  );
}
