import { randomBytes } from 'node:crypto';

import type { SourceOptions } from '../ingest/source.options.js';
import { isMetadata } from '../entry.rules.js';
import { EntryManager, type PatchRules, type ReadableEntry } from './entry.manager.js';
import type { CreatedSource, SourceEntry } from './registry-entry.interface.js';
import type { Registry } from './registry.js';

/** Length of a generated write key, in bytes. */
const KEY_BYTES = 32;

const FIELDS: PatchRules<SourceOptions> = {
  name: 'cannot be changed',
  writeKey: 'can only be changed with rotateKey()',
  metadata: true,
};

/** A new source. Its write key is generated unless given. */
export type NewSource = Omit<SourceOptions, 'writeKey'> & Partial<Pick<SourceOptions, 'writeKey'>>;

/** Fields of a source to change. `undefined` leaves a field unchanged; `null` resets it to its default. */
export type SourcePatch = {
  [K in keyof Omit<SourceOptions, 'name' | 'writeKey'>]?: SourceOptions[K] | null;
};

/**
 * Manages the sources of the module's options and of the registry. Before the promise of a change resolves, the change
 * is durable and in effect in this process; other processes apply it within a second.
 */
export class SourceManager extends EntryManager<'source', SourceEntry> {
  /** @internal */
  constructor(registry: Registry) {
    super('source', registry);
  }

  /**
   * Creates a source.
   *
   * @throws {OptionsError} naming each invalid field and its rule
   * @throws {RelayError} `source_exists`, or `registry_read_only` without `registry: 'store'`
   */
  async create(source: NewSource): Promise<CreatedSource> {
    const generated = Object.hasOwn(Object(source) as object, 'writeKey') ? {} : { writeKey: generateKey() };
    return { ...(await this.add({ ...source, ...generated } as SourceOptions)), ...generated };
  }

  /**
   * Changes fields of a source. The write key is changed with {@link rotateKey}; the name cannot be changed.
   *
   * @throws {OptionsError} naming each invalid field and its rule
   * @throws {RelayError} `source_unknown` or `registry_read_only`
   */
  update(name: string, patch: SourcePatch): Promise<SourceEntry> {
    return this.patch(name, patch, FIELDS);
  }

  /**
   * Replaces the write key of a source with the given or a generated one. The previous key stays valid for `overlap` ms
   * (default: a day). A key from an earlier rotation becomes invalid immediately.
   *
   * @throws {OptionsError} naming the invalid field and its rule
   * @throws {RelayError} `source_unknown` or `registry_read_only`
   */
  rotateKey(name: string, rotation: { key?: string; overlap?: number } = {}): Promise<CreatedSource> {
    return this.rotate(name, 'writeKey', 'key', rotation, generateKey);
  }

  /**
   * Ends the overlap of {@link rotateKey} now, such as for a leaked key: messages with the previous key are refused. If
   * there is no overlap, nothing changes.
   *
   * @throws {RelayError} `source_unknown` or `registry_read_only`
   */
  endOverlap(name: string): Promise<SourceEntry> {
    return this.endPrevious(name);
  }

  protected show({ document, name, origin, fault }: ReadableEntry<'source'>): SourceEntry {
    const { options, previous, createdAt, updatedAt } = document;
    const metadata = isMetadata(options.metadata) ? { metadata: { ...options.metadata } } : {};
    return { name, ...metadata, origin, fault, createdAt, updatedAt, previousKeyUntil: previous?.until };
  }
}

function generateKey(): string {
  return `wk_${randomBytes(KEY_BYTES).toString('base64url')}`;
}
