import type { InjectionToken, OptionalFactoryDependency, Type } from '@nestjs/common';
import type { Observable } from 'rxjs';

import type { DestinationOptions } from '../dispatch/destination.options.js';
import type { SourceOptions } from '../ingest/source.options.js';

/** A destination as the application declares it: what it leaves out has its default. */
export type GivenDestination = Partial<DestinationOptions> & Pick<DestinationOptions, 'urls'>;

/** A change of the application's own sources and destinations. `put` replaces what has the same name. */
export type RegistryChange =
  | { put: { destination?: GivenDestination; source?: SourceOptions } }
  /** By name. */
  | { remove: { destination?: string; source?: string } };

/** Where the application itself keeps sources and destinations that change while it runs; the `registry` option takes it. */
export interface DestinationRegistry {
  /** Everything there is, once at start; the start fails if it rejects. */
  load(): Promise<{ sources: SourceOptions[]; destinations: GivenDestination[] }>;
  /**
   * What changes after that. Subscribed to before `load` is called, so that no change is missed between the two.
   * An entry that breaks a rule is logged as an error, and changes nothing.
   */
  readonly changes$?: Observable<RegistryChange>;
}

/**
 * The application's own registry. `useExisting`, and what `inject` names, are providers of any module. A class in
 * `useClass` that no module provides is created with dependencies of global modules, and its lifecycle hooks are not
 * called.
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

/** `'store'` keeps sources and destinations beside the deliveries of the queue. */
export type RegistryOption = 'store' | DestinationRegistryProvider;
