import { toOptions } from '../../common/options.rules.js';
import { DestinationOptions } from '../dispatch/destination.options.js';
import type { SourceOptions } from '../ingest/source.options.js';
import type { GivenDestination } from './destination-registry.interface.js';
import type { PausableDestination, Pause } from '../dispatch/pause.util.js';
import type { KeyedSource } from '../ingest/source.registry.js';

/** An entry: its options as they were given, and what has happened to it since. Its JSON is what the store keeps. */
export interface EntryDocument<T> {
  options: T;
  /** The secret or write key before the last rotation; `until` in ms since the epoch. */
  previous?: { value: string; until: number };
  /** Of a destination, the oldest first. */
  pauses?: Pause[];
  /** The layout that it was written in; 1 where there is none. */
  layout?: number;
  /** Which rules it was checked by when it was written. */
  rules?: string;
  /** In ms since the epoch; of entries in the store. */
  createdAt?: number;
  updatedAt?: number;
}

export interface EntryDocuments {
  source: EntryDocument<SourceOptions>;
  destination: EntryDocument<GivenDestination & { name: string }>;
}

export type AnyDocument = EntryDocuments[keyof EntryDocuments];

/** The document without a secret or key whose time has ended: itself where it has none. */
export function withoutExpired<T extends AnyDocument>(document: T, now: number): T {
  return document.previous && document.previous.until <= now ? { ...document, previous: undefined } : document;
}

export function toLiveSource({ options, previous }: EntryDocuments['source']): KeyedSource {
  return { ...options, ...(previous && { previousKey: previous.value }) };
}

export function toLiveDestination({
  options,
  previous,
  pauses = [],
}: EntryDocuments['destination']): PausableDestination {
  return Object.assign(toOptions(DestinationOptions, toSigned(options, previous)), { pauses });
}

/** The options of a destination, with both secrets during a rotation. */
export function toSigned(
  options: GivenDestination,
  previous: EntryDocuments['destination']['previous'],
): GivenDestination {
  const [secret] = [options.sharedSecret].flat();
  return previous && secret !== undefined ? { ...options, sharedSecret: [secret, previous.value] } : options;
}
