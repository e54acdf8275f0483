import type { DeliveryQueue } from '../queue/delivery.queue.js';
import { ApplicationRegistry } from './application-registry.js';
import { DocumentCodec } from './document.codec.js';
import type { Registry, RegistrySettings, RelayEntries } from './registry.js';
import { StoredRegistry } from './stored.registry.js';

/** Creates the registry that the options select; an empty one if they select none. */
export function createRegistry(settings: RegistrySettings, queue: DeliveryQueue, relay: RelayEntries): Registry {
  if (settings.registry !== 'store') return new ApplicationRegistry(settings.registry, settings, relay);
  const createCodec = () => DocumentCodec.create(settings.registrySecret);
  return new StoredRegistry(queue.registry, createCodec, settings, relay);
}
