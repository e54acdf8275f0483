import type { DestinationEntry } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { type Destination, isAtLimit } from './destination.answer.js';

/** What decides whether a destination is sent its deliveries. */
export type Hold = Pick<DestinationEntry, 'fault' | 'enabled' | 'paused' | 'disabled'>;

/** Word of each health, and the state whose badge has the right colour. */
const HEALTH = {
  down: ['down', 'down'],
  failing: ['failing', 'dead'],
  degraded: ['partly failing', 'waiting'],
  late: ['late', 'waiting'],
  limited: ['backlog', 'queued'],
  delivering: ['delivering', 'delivered'],
  idle: ['idle', 'queued'],
} as const;

/** Why a destination is sent nothing, with the state whose badge has the right colour; undefined if it is. */
function wordOf({ fault, enabled, paused, disabled }: Hold): readonly [word: string, look: string] | undefined {
  if (fault !== undefined) return ['not used', 'dead'];
  if (disabled?.reason === 'paused') return ['paused by its tenant', 'waiting'];
  if (disabled) return ['endpoint disabled', 'dead'];
  if (!enabled) return ['disabled', 'queued'];
  return paused ? ['paused', 'waiting'] : undefined;
}

export interface HealthBadgeProps {
  /** Undefined if it is sent its deliveries. */
  hold?: Hold | undefined;
  /** Undefined if all is well: then there is a badge only for what is sent nothing. */
  health: keyof typeof HEALTH | undefined;
}

/** Why a destination is sent nothing or, if it is, its health. */
export function HealthBadge({ hold, health }: HealthBadgeProps) {
  const [word, look] = (hold && wordOf(hold)) ?? (health ? HEALTH[health] : []);
  return word === undefined ? null : <StateBadge state={look!} label={word} />;
}

/** Returns the health of a destination that is sent its deliveries. */
export function healthOf({ figures, rateLimit }: Destination): keyof typeof HEALTH {
  if (figures.down) return 'down';
  return isAtLimit({ rateLimit, figures }) ? 'limited' : figures.health;
}
