import { setImmediate as nextTurn } from 'node:timers/promises';

import type { OptionsError } from '../../common/options.error.js';
import { ArgumentError, FieldError } from '../../common/relay.errors.js';
import { inSlices } from '../../common/slices.util.js';
import { isPositiveInteger } from '../../common/value.util.js';
import { isName, NAME_LIMITS } from '../entry.rules.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import { type EntryDocuments, invalidEntry } from './entry.document.js';
import type { EntryQuery } from './registry-entry.interface.js';
import type { Registry, RegistryEntry } from './registry.js';

/** Entries compared with a text without a pause. */
const UNPAUSED = 500;

/** Entries per page, unless the query has a limit. */
const PAGE = 100;

/** How long the previous secret or key stays valid after a rotation, in ms: a day. */
const OVERLAP = 86_400_000;

/** Longest overlap, in ms: a year. Write keys are in applications that people update late. */
const MAX_OVERLAP = 365 * OVERLAP;

/** Names that URLs resolve. */
const UNREACHABLE = ['.', '..'];

const NAME_RULE = `name must be a non-empty string other than "." and "..", ${NAME_LIMITS}`;

/** An entry that was found by a text. */
export interface NamedEntry {
  name: string;
  /** Where the text was found: `name`, or a field of the metadata such as `metadata.tenant`. */
  matched: string;
  /** The name, or the value of that field. */
  value: string;
}

/** For each field: true if it may be changed, or else the rule that forbids it. */
export type PatchRules<T> = Record<keyof T, true | string>;

/** Selects entries. */
type EntryFilter = Pick<EntryQuery, 'metadata' | 'name'>;

export type ReadableEntry<K extends RegistryKind> = RegistryEntry<K> & { document: EntryDocuments[K] };

/** Base class of the managers of sources and destinations. */
export abstract class EntryManager<K extends RegistryKind, E> {
  protected constructor(
    private readonly kind: K,
    protected readonly registry: Registry,
  ) {}

  /**
   * Returns the matching entries, sorted by name.
   * @throws {RelayError} `argument_invalid`
   */
  async list(query: EntryQuery = {}): Promise<E[]> {
    if (typeof query !== 'object' || query === null) throw new ArgumentError('the query must be an object');
    const { name: part = '', metadata = {}, limit = PAGE, after = '' } = query;
    if (!isPositiveInteger(limit)) throw new ArgumentError('limit must be a whole number above 0');
    if (typeof after !== 'string') throw new ArgumentError('after must be a string');
    if (typeof part !== 'string') throw new ArgumentError('name must be a string');
    if (typeof metadata !== 'object' || metadata === null) throw new ArgumentError('metadata must be an object');
    await this.registry.ready();
    const shown: E[] = [];
    // The public key of a private one takes up to 1 ms to make.
    for await (const entry of inSlices(this.matching({ metadata, name: part }, after).slice(0, limit))) {
      shown.push(this.show(entry));
    }
    return shown;
  }

  /** @internal Returns the names of the matching entries, sorted. */
  async names(filter: EntryFilter): Promise<string[]> {
    await this.registry.ready();
    return this.matching(filter).map(({ name }) => name);
  }

  /**
   * @internal Returns entries with a text in their name or in a value of their metadata, in upper or lower case. First come
   * those that match as a whole, then those sorted by name.
   */
  async findNamed(text: string, limit: number): Promise<NamedEntry[]> {
    await this.registry.ready();
    const wanted = text.toLowerCase();
    const whole: NamedEntry[] = [];
    const partial: NamedEntry[] = [];
    for (const [index, name] of this.registry.names(this.kind).entries()) {
      if (index % UNPAUSED === UNPAUSED - 1) await nextTurn();
      const entry = this.find(name);
      if (!entry) continue;
      const { metadata = {} } = entry.document.options as { metadata?: Record<string, string> };
      const values = [
        { name, matched: 'name', value: name },
        ...Object.entries(metadata).map(([field, value]) => ({ name, matched: `metadata.${field}`, value })),
      ];
      const exact = values.find(({ value }) => value.toLowerCase() === wanted);
      const found = exact ?? values.find(({ value }) => value.toLowerCase().includes(wanted));
      if (found) (exact ? whole : partial).push(found);
    }
    return [...whole, ...partial].slice(0, limit);
  }

  /** Returns the entry with this name; undefined if there is none that this process can read. */
  async get(name: string): Promise<E | undefined> {
    await this.registry.ready();
    const entry = this.find(name);
    return entry && this.show(entry);
  }

  /**
   * Removes an entry. Resolves once the removal is durable and in effect in this process.
   *
   * @throws {RelayError} `registry_read_only`, `source_unknown` or `destination_unknown`
   */
  async remove(name: string): Promise<void> {
    this.refuseFixed(name);
    await this.registry.change(this.kind, name, (entry) => {
      if (!entry) throw this.unknown(name);
      return null;
    });
  }

  /** Returns the documents in use, sorted by name. */
  protected async live(): Promise<EntryDocuments[K][]> {
    await this.registry.ready();
    return this.registry.names(this.kind).flatMap((name) => this.registry.find(this.kind, name)?.live ?? []);
  }

  /**
   * Returns the document in use of an entry.
   *
   * @throws {OptionsError} with the fault of an entry that this process does not use
   * @throws {RelayError} `source_unknown` or `destination_unknown`
   */
  protected async used(name: string): Promise<EntryDocuments[K]> {
    const { fault, live } = await this.known(name);
    if (live) return live;
    throw this.refusal(name, [fault!]);
  }

  protected abstract show(entry: ReadableEntry<K>): E;

  /** @throws {RelayError} `source_unknown` or `destination_unknown` */
  protected async known(name: string): Promise<ReadableEntry<K>> {
    await this.registry.ready();
    const entry = this.find(name);
    if (entry) return entry;
    throw this.unknown(name);
  }

  /** @param state what the new document has beside its options */
  protected async add(options: EntryDocuments[K]['options'], state: Partial<EntryDocuments[K]> = {}): Promise<E> {
    const { name } = options;
    if (!isName(name) || UNREACHABLE.includes(name)) throw this.refusal(name, [NAME_RULE]);
    const exists = () => new FieldError(`${this.kind}_exists`, `${this.kind} "${name}" already exists`, 'name');
    if (this.registry.fixed(this.kind).has(name)) throw exists();
    await this.registry.change(this.kind, name, (entry) => {
      if (entry) throw exists();
      return { ...toDocument<K>(options), ...state };
    });
    return this.show(await this.known(name));
  }

  /** @param change returns the new document; the same object if nothing changes */
  protected async change(name: string, change: (document: EntryDocuments[K]) => EntryDocuments[K]): Promise<E> {
    this.refuseFixed(name);
    await this.registry.change(this.kind, name, (entry) => {
      if (!entry) throw this.unknown(name);
      if (!entry.document)
        throw new FieldError('registry_unreadable', `${this.kind} "${name}": ${entry.fault}`, 'name');
      const changed = change(entry.document);
      return changed === entry.document ? undefined : { ...changed, updatedAt: Date.now() };
    });
    return this.show(await this.known(name));
  }

  /** @param prepare returns the document that the patch is applied to */
  protected async patch<T>(
    name: string,
    patch: object,
    rules: PatchRules<T>,
    prepare = (document: EntryDocuments[K]) => document,
  ): Promise<E> {
    this.refuseFixed(name);
    const faults = findPatchFaults(patch, rules);
    if (faults.length > 0) throw this.refusal(name, faults);
    return this.change(name, (document) => {
      const prepared = prepare(document);
      return { ...prepared, options: patched(prepared.options, patch) };
    });
  }

  /**
   * Replaces the secret or key of an entry with the given or a generated one. The result has a generated one.
   * @param argument its name in the caller's arguments
   */
  protected async rotate<F extends string>(
    name: string,
    field: F,
    argument: string,
    given: { overlap?: number },
    generate: () => string,
  ): Promise<E & { [K in F]?: string }> {
    const { overlap = OVERLAP, [argument]: value, ...others } = Object(given) as Record<string, unknown> & typeof given;
    const faults = [
      ...Object.keys(others).map((field) => `${field} is not a known option`),
      ...(Number.isSafeInteger(overlap) && overlap >= 0 && overlap <= MAX_OVERLAP
        ? []
        : [`overlap must be a whole number of milliseconds from 0 to ${MAX_OVERLAP} (365 days)`]),
      ...(value === undefined || typeof value === 'string' ? [] : [`${argument} must be a string`]),
    ];
    if (faults.length > 0) throw this.refusal(name, faults);
    const current = value ?? generate();
    const entry = await this.change(name, (document) => {
      const [present] = [(document.options as Record<string, unknown>)[field]].flat() as (string | undefined)[];
      if (present === current) throw this.refusal(name, [`${argument} must differ from the present one`]);
      const previous = present && overlap > 0 ? { value: present, until: Date.now() + overlap } : undefined;
      return { ...document, options: { ...document.options, [field]: current }, previous };
    });
    return { ...entry, ...(value === undefined && ({ [field]: current } as { [K in F]?: string })) };
  }

  /** Ends the overlap of the last rotation: only the present secret or key is valid. Without an overlap, nothing changes. */
  protected endPrevious(name: string): Promise<E> {
    return this.change(name, (document) => (document.previous ? { ...document, previous: undefined } : document));
  }

  /** @internal Copies the fixed entries that the store lacks; resolves with their names. */
  async copyFixed(skips: (options: EntryDocuments[K]['options']) => boolean = () => false): Promise<string[]> {
    const copied: string[] = [];
    for (const [name, { document }] of this.registry.fixed(this.kind)) {
      const { options } = document!;
      if (skips(options)) continue;
      let isNew = false;
      await this.registry.change(this.kind, name, (entry) => {
        isNew = entry === undefined;
        return isNew ? toDocument<K>(options) : undefined;
      });
      if (isNew) copied.push(name);
    }
    return copied;
  }

  protected refusal(name: unknown, faults: string[]): OptionsError {
    return invalidEntry(this.kind, String(name), faults);
  }

  private matching({ metadata = {}, name: part = '' }: EntryFilter, after = ''): ReadableEntry<K>[] {
    const wanted = Object.entries(metadata);
    const lower = part.toLowerCase();
    return this.registry
      .namesWith(this.kind, metadata)
      .filter((name) => name > after && name.toLowerCase().includes(lower))
      .flatMap((name) => this.find(name) ?? [])
      .filter(({ document }) => {
        const { metadata: own } = document.options as { metadata?: Record<string, string> };
        return wanted.every(([key, value]) => own?.[key] === value);
      });
  }

  private find(name: string): ReadableEntry<K> | undefined {
    const entry = this.registry.find(this.kind, name);
    return entry?.document && (entry as ReadableEntry<K>);
  }

  private refuseFixed(name: string): void {
    if (!this.registry.fixed(this.kind).has(name)) return;
    const rule = `${this.kind} "${name}" is declared in the module's options, and can be changed only there`;
    throw new FieldError('registry_read_only', rule, 'name');
  }

  private unknown(name: string): FieldError {
    return new FieldError(`${this.kind}_unknown`, `${this.kind} "${name}" does not exist`, 'name');
  }
}

function toDocument<K extends RegistryKind>(options: EntryDocuments[K]['options']): EntryDocuments[K] {
  const now = Date.now();
  return { options, createdAt: now, updatedAt: now } as EntryDocuments[K];
}

/** Returns the options with a patch applied. `undefined` leaves a field unchanged; `null` restores its default. */
function patched<T extends object>(options: T, patch: object): T {
  const changed = {
    ...options,
    ...Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)),
  };
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null)) as T;
}

/** Returns the fields of the patch that may not be changed, each with its rule. */
function findPatchFaults<T>(patch: unknown, rules: PatchRules<T>): string[] {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return ['patch must be an object'];
  return Object.keys(patch).flatMap((field) => {
    const rule = Object.hasOwn(rules, field) ? rules[field as keyof T] : 'is not a known option';
    return rule === true ? [] : [`${field} ${rule}`];
  });
}
