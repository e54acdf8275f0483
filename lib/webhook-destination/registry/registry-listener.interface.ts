import type { PausableDestination } from '../dispatch/pause.util.js';
import type { KeyedSource } from '../ingest/source.registry.js';

/**
 * Applies changes of the registry to the relay. A `put` replaces the entry with the same name. A `remove` may name an
 * entry that was never put: at start, entries removed in the last 30 days are reported, because an earlier process may
 * have left deliveries for them.
 */
export interface RegistryListener {
  putSource(source: KeyedSource): void;
  removeSource(name: string): void;
  putDestination(destination: PausableDestination): void;
  removeDestination(name: string): void;
}
