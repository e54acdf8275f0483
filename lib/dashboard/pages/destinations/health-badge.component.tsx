import { StateBadge } from '../../components/state-badge.component.js';
import type { Destination } from './destination.answer.js';

/** How a destination does, in one word; `look` is a state of deliveries with the same colour. */
export function healthOf({ fault, enabled, paused, figures }: Destination): { word: string; look: string } {
  if (fault !== undefined) return { word: 'not used', look: 'dead' };
  if (!enabled) return { word: 'disabled', look: 'queued' };
  if (paused) return { word: 'paused', look: 'waiting' };
  return figures.down ? { word: 'down', look: 'down' } : { word: 'delivering', look: 'delivered' };
}

export function HealthBadge({ destination }: { destination: Destination }) {
  const { word, look } = healthOf(destination);
  return <StateBadge state={look} label={word} />;
}
