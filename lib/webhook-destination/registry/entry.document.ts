import { invalidOptions, type OptionsError } from '../../client/options.error.js';
import { foundOnce } from '../../common/found-once.util.js';
import { toOptions } from '../../common/options.rules.js';
import { DestinationOptions } from '../dispatch/destination.options.js';
import type { Disablement, PausableDestination, Pause } from '../dispatch/pause.util.js';
import type { SourceOptions } from '../ingest/source.options.js';
import type { KeyedSource } from '../ingest/source.registry.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import { publicKeyOf } from '../receiver/webhook-secret.rules.js';
import { shownUrl } from '../transport/webhook-target.js';
import type { GivenDestination } from './destination-registry.interface.js';

/** An entry: its options as given, and its later state. The store keeps it as JSON. */
interface EntryDocument<T> {
  options: T;
  /** The secret or write key before the last rotation; `until` in ms since the epoch. */
  previous?: { value: string; until: number };
  /** Whether its tenant added it: it receives the messages of the tenant's sources, whatever `sources` says. */
  followsTenant?: boolean;
  /** Pauses of a destination, oldest first. */
  pauses?: Pause[];
  /** Time of an endpoint's first failure since its last success, in ms since the epoch. */
  failingSince?: number;
  disabled?: Disablement;
  /** In ms since the epoch; entries of the store only. */
  createdAt?: number;
  updatedAt?: number;
}

export interface EntryDocuments {
  source: EntryDocument<SourceOptions>;
  destination: EntryDocument<GivenDestination & { name: string }>;
}

export type AnyDocument = EntryDocuments[keyof EntryDocuments];

/** Returns the document without an expired previous secret or key; the same object if none has expired. */
export function withoutExpired<T extends AnyDocument>(document: T, now: number): T {
  return document.previous && document.previous.until <= now ? { ...document, previous: undefined } : document;
}

/** Replaces the lists and objects of valid options by copies, and returns the options. */
export function detach<T extends object>(options: T): T {
  for (const [field, value] of Object.entries(options)) {
    if (typeof value === 'object') Object.assign(options, { [field]: JSON.parse(JSON.stringify(value)) as object });
  }
  return options;
}

/** Returns the parts of an entry that the relay uses, for comparison. */
export function essenceOf({ options, previous, pauses, failingSince, disabled }: AnyDocument): string {
  return JSON.stringify([options, previous, pauses, failingSince, disabled]);
}

/** Returns a document with the pauses of another one of its entry, and its state as an endpoint. */
export function withStateOf<T extends AnyDocument>({ pauses, failingSince, disabled }: AnyDocument, document: T): T {
  return { ...document, pauses, failingSince, disabled };
}

export function sourcesOf({ options }: AnyDocument): string[] | undefined {
  return (options as GivenDestination).sources;
}

export function toLiveSource({ options, previous }: EntryDocuments['source']): KeyedSource {
  return { ...options, ...(previous && { previousKey: previous.value }) };
}

/** Returns the options of a destination with their defaults, and with both secrets during a rotation. */
export function toDestinationOptions({ options, previous }: EntryDocuments['destination']): DestinationOptions {
  const [secret] = [options.sharedSecret].flat();
  const both = previous && secret !== undefined && { sharedSecret: [secret, previous.value] };
  return toOptions(DestinationOptions, { ...options, ...both });
}

/** Returns the public keys of a destination's secrets, those that have one. A document does not change. */
export const publicKeysOf = foundOnce(({ options, previous }: EntryDocuments['destination']) => {
  const [current, former = previous?.value] = [options.sharedSecret].flat();
  const keyOf = (secret: unknown) => (typeof secret === 'string' ? publicKeyOf(secret) : undefined);
  return { current: keyOf(current), previous: keyOf(former) };
}, new WeakMap());

/** Returns the URLs of a destination as records, logs and answers show them. */
export function shownUrlsOf({ urls = [] }: EntryDocuments['destination']['options']): string[] {
  return urls.map((url) => shownUrl(new URL(url)));
}

export function toLiveDestination(document: EntryDocuments['destination']): PausableDestination {
  const { pauses = [], failingSince, disabled, followsTenant } = document;
  const live: PausableDestination = Object.assign(toDestinationOptions(document), { pauses, failingSince, disabled });
  if (followsTenant) live.sources = []; // the registry knows those of its tenant
  return live;
}

/** Returns how errors and log lines name an entry. */
export function subjectOf(kind: RegistryKind, name: string): string {
  return `${kind === 'source' ? 'Source' : 'Destination'} "${name}"`;
}

/** Creates the error for an entry with faults; its `field` is that of the first. */
export function invalidEntry(kind: RegistryKind, name: string, faults: string[]): OptionsError {
  return invalidOptions(subjectOf(kind, name), faults);
}
