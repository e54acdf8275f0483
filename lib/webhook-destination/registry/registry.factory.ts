import { OptionsError } from '../../common/options.error.js';
import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import { ApplicationRegistry } from './application-registry.js';
import { DocumentCodec } from './document.codec.js';
import type { Registry, RegistrySettings, RelayEntries } from './registry.js';
import { StoredRegistry } from './stored.registry.js';

/**
 * Creates the registry that the options select; an empty one if they select none.
 * @throws {OptionsError} if the queue keeps no registry
 */
export function createRegistry(settings: RegistrySettings, queue: DeliveryQueue, relay: RelayEntries): Registry {
  if (settings.registry !== 'store') return new ApplicationRegistry(settings.registry, settings, relay);
  const createCodec = () => DocumentCodec.create(settings.registrySecret);
  if (queue.registry) return new StoredRegistry(queue.registry, createCodec, settings, relay);
  throw new OptionsError('WebhookDestinationModule', [
    "registry must not be 'store' with this queue, which cannot store a registry",
  ]);
}
