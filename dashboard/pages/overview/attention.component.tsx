import type { Attention, DestinationProblem } from '../../../lib/webhook-destination/admin/api/attention.routes.js';
import { paceText } from '../../components/pace.util.js';
import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Ago } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { HealthBadge } from '../destinations/health-badge.component.js';

const MEANINGS: Record<DestinationProblem['problem'], string> = {
  down: 'one delivery probes it, the others wait',
  failing: 'nothing was delivered lately',
  degraded: 'some attempts fail',
  late: 'deliveries are due and not sent',
  limited: '',
};

/** What needs attention, each with its last error and links to what is concerned; renders nothing if nothing does. */
export function AttentionList({ attention: { destinations, counts } }: { attention: Attention }) {
  if (destinations.length === 0) return null;
  const others = Object.values(counts).reduce((sum, count) => sum + count, 0) - destinations.length;
  return (
    <section class="panel" aria-label="What needs attention">
      <h2>Needs attention</h2>
      <ul class="attention">
        {destinations.map((problem) => (
          <Problem key={problem.destination} problem={problem} />
        ))}
      </ul>
      {others > 0 && (
        <p class="hint">
          <a href={hrefOf('destinations')}>{others.toLocaleString()} more destinations</a>
        </p>
      )}
    </section>
  );
}

function Problem({
  problem: { destination, problem, open, dead, dueAt, lastFailure, ...pace },
}: {
  problem: DestinationProblem;
}) {
  const { rateLimit } = pace;
  return (
    <li>
      <HealthBadge health={problem} /> <NameLink of="destinations" name={destination} />:{' '}
      {problem === 'limited' && rateLimit ? paceText({ ...pace, open, rateLimit }) : MEANINGS[problem]}
      {dueAt !== undefined && problem === 'late' && (
        <>
          , the first was due <Ago at={dueAt} />
        </>
      )}
      .{' '}
      {lastFailure && (
        <span class="muted">
          Last error <Ago at={lastFailure.at} />: <PlainText value={errorOf(lastFailure)} max={120} />.{' '}
        </span>
      )}
      {open > 0 && <a href={hrefOf('destinations', {}, destination)}>{open.toLocaleString()} to deliver</a>}
      {open > 0 && dead > 0 && ', '}
      {dead > 0 && <a href={hrefOf('dead', { destination })}>{dead.toLocaleString()} dead</a>}
    </li>
  );
}

function errorOf({ status, error, reason }: NonNullable<DestinationProblem['lastFailure']>): string {
  return error ?? (status === undefined ? (reason ?? 'unknown') : `HTTP ${status}`);
}
