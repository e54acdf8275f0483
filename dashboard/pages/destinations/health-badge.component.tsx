import { StateBadge } from '../../components/state-badge.component.js';
import type { Destination } from './destination.answer.js';

const RECENT = {
  failing: { word: 'failing', look: 'dead' },
  degraded: { word: 'partly failing', look: 'waiting' },
  delivering: { word: 'delivering', look: 'delivered' },
  idle: { word: 'idle', look: 'queued' },
};

/** Returns the health of a destination in one or two words; `look` is the state whose badge has the right colour. */
function healthOf({ fault, enabled, paused, disabled, figures }: Destination): { word: string; look: string } {
  if (fault !== undefined) return { word: 'not used', look: 'dead' };
  if (disabled?.reason === 'paused') return { word: 'paused by its tenant', look: 'waiting' };
  if (disabled) return { word: 'endpoint disabled', look: 'dead' };
  if (!enabled) return { word: 'disabled', look: 'queued' };
  if (paused) return { word: 'paused', look: 'waiting' };
  return figures.down ? { word: 'down', look: 'down' } : RECENT[figures.health];
}

export function HealthBadge({ destination }: { destination: Destination }) {
  const { word, look } = healthOf(destination);
  return <StateBadge state={look} label={word} />;
}
