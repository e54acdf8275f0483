import { findOptionFaults, toOptions } from '../../common/options.rules.js';
import type { DeliveryOptions } from '../dispatch/delivery.options.js';
import { DestinationOptions } from '../dispatch/destination.options.js';
import { findDeliveryFaults } from '../dispatch/destination.rules.js';
import { SourceOptions } from '../ingest/source.options.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import { type AnyDocument, type EntryDocuments, toSigned } from './entry.document.js';

/** Returns the rules of the module's options that an entry breaks on its own, each as `path rule`. */
export function findEntryFaults(kind: RegistryKind, document: AnyDocument, delivery: DeliveryOptions): string[] {
  const { options } = document;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return ['must be an object'];
  if (kind === 'source') return findOptionFaults(toOptions(SourceOptions, options));
  const { previous } = document as EntryDocuments['destination'];
  const destination = toOptions(DestinationOptions, toSigned(options as DestinationOptions, previous));
  const faults = findOptionFaults(destination);
  if (faults.length > 0) return faults;
  return findDeliveryFaults([destination], delivery).map((fault) => fault.replace(/^destinations\[0\]\./, ''));
}
