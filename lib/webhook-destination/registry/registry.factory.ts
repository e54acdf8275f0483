import { OptionsError } from '../../common/options.error.js';
import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import type { RegistryOption } from './destination-registry.interface.js';
import { ApplicationRegistry } from './application-registry.js';
import { DocumentCipher } from './document.cipher.js';
import { EntryCodec } from './entry.codec.js';
import { type EntrySettings, LiveEntries, type DestinationListener, type RelaySources } from './live-entries.js';
import type { Registry } from './registry.js';
import { StoredRegistry } from './stored.registry.js';

/** The part of the module's options that concerns the registry. */
interface RegistrySettings extends EntrySettings {
  registry?: RegistryOption;
  registrySecret?: string | string[];
}

/**
 * Creates the registry that the options select; an empty one if they select none.
 * @throws {OptionsError} if the queue keeps no registry
 */
export function createRegistry(
  settings: RegistrySettings,
  queue: DeliveryQueue,
  sources: RelaySources,
  listener: DestinationListener,
): Registry {
  const { delivery, registry, registrySecret } = settings;
  const entries = new LiveEntries(settings, sources, listener);
  if (registry !== 'store') return new ApplicationRegistry(entries, registry);
  const createCodec = async () => new EntryCodec(await DocumentCipher.create(registrySecret), delivery);
  if (queue.registry) return new StoredRegistry(queue.registry, entries, createCodec);
  throw new OptionsError('WebhookDestinationModule', [
    "registry must not be 'store' with this queue, which cannot store a registry",
  ]);
}
