import type { DestinationProblem } from '../../../lib/webhook-destination/admin/api/attention.routes.js';
import { StateBadge } from '../../components/state-badge.component.js';

/** Word of each problem, and the state whose badge has the right colour. */
const LOOKS = {
  down: ['down', 'down'],
  failing: ['failing', 'dead'],
  degraded: ['partly failing', 'waiting'],
  late: ['late', 'waiting'],
  limited: ['backlog', 'queued'],
} as const;

/** What is wrong with a destination, in one or two words. */
export function ProblemBadge({ problem }: Pick<DestinationProblem, 'problem'>) {
  const [word, look] = LOOKS[problem];
  return <StateBadge state={look} label={word} />;
}
