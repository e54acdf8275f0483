import type { InjectionToken, OptionalFactoryDependency, Type } from '@nestjs/common';
import type { Observable } from 'rxjs';

import type { DestinationOptions } from '../dispatch/destination.options.js';
import type { SourceOptions } from '../ingest/source.options.js';

/** A destination as the application declares it; omitted options have their defaults. */
export type GivenDestination = Partial<DestinationOptions> & Pick<DestinationOptions, 'urls'>;

/**
 * A change to the application's own sources and destinations. `put` adds an entry, or replaces the one with the same
 * name.
 */
export type RegistryChange =
  | { put: { destination?: GivenDestination; source?: SourceOptions } }
  /** Names of the entries to remove. */
  | { remove: { destination?: string; source?: string } };

/** The application's own storage of sources and destinations that change at run time, for the option `registry`. */
export interface DestinationRegistry {
  /** Returns all sources and destinations. Called once at start, which fails if the promise rejects. */
  load(): Promise<{ sources: SourceOptions[]; destinations: GivenDestination[] }>;
  /**
   * Emits later changes. Subscribed to before `load` is called, so no change is missed in between.
   * An entry that breaks a rule is logged as an error and ignored.
   */
  readonly changes$?: Observable<RegistryChange>;
}

/**
 * Provider of the application's own registry. `useExisting` and `inject` may name providers of any module. If no module
 * provides the class in `useClass`, it is created with dependencies from global modules, and its lifecycle hooks are
 * not called.
 */
export type DestinationRegistryProvider =
  | { useValue: DestinationRegistry }
  | { useExisting: InjectionToken<DestinationRegistry> }
  | { useClass: Type<DestinationRegistry> }
  | {
      // Each dependency has a type of its own.
      // eslint-disable-next-line @typescript-eslint/no-explicit-any
      useFactory: (...dependencies: any[]) => DestinationRegistry | Promise<DestinationRegistry>;
      inject?: (InjectionToken | OptionalFactoryDependency)[];
    };

/** `'store'` keeps sources and destinations in the store of the queue; a provider supplies the application's own. */
export type RegistryOption = 'store' | DestinationRegistryProvider;
