import type { PausableDestination } from '../dispatch/pause.util.js';
import type { KeyedSource } from '../ingest/source.registry.js';

/**
 * The relay's steps, as the registry changes them. A `put` replaces what has the same name. A `remove` may concern what was
 * never put: at start, what was removed in the last 30 days, as a process that ended may have left deliveries of it.
 */
export interface RegistryListener {
  putSource(source: KeyedSource): void;
  removeSource(name: string): void;
  putDestination(destination: PausableDestination): void;
  removeDestination(name: string): void;
}
