import { randomBytes } from 'node:crypto';

import type { SourceOptions } from '../ingest/source.options.js';
import { EntryManager, type ShownEntry } from './entry.manager.js';
import type { PatchRules } from './options.patch.js';
import type { CreatedSource, SourceEntry } from './registry-entry.interface.js';
import type { Registry } from './registry.js';

/** Bytes of a generated write key. */
const KEY_BYTES = 32;

const FIELDS: PatchRules<SourceOptions> = {
  name: 'cannot be changed',
  writeKey: 'can be changed with rotateKey() only',
};

/** A new source: its write key is generated unless it has one. */
export type NewSource = Omit<SourceOptions, 'writeKey'> & Partial<Pick<SourceOptions, 'writeKey'>>;

/** Fields of a source to change: undefined leaves one as it is, null gives it its default. */
export type SourcePatch = {
  [K in keyof Omit<SourceOptions, 'name' | 'writeKey'>]?: SourceOptions[K] | null;
};

/**
 * The sources: those of the module's options and those of the registry. A change is durable, and in effect in this process,
 * before its promise resolves; in other processes it is within a second.
 */
export class SourceManager extends EntryManager<'source', SourceEntry> {
  /** @internal */
  constructor(fixed: SourceOptions[], registry: Registry) {
    super('source', fixed, registry);
  }

  /**
   * Creates a source.
   *
   * @throws {OptionsError} that names each field at fault and its rule
   * @throws {RelayError} `source_exists`, or `registry_read_only` without `registry: 'store'`
   */
  async create(source: NewSource): Promise<CreatedSource> {
    const generated = Object.hasOwn(Object(source) as object, 'writeKey') ? {} : { writeKey: generateKey() };
    return { ...(await this.add({ ...source, ...generated } as SourceOptions)), ...generated };
  }

  /**
   * Changes fields of a source. Its key changes with {@link rotateKey}, its name never.
   *
   * @throws {OptionsError} that names each field at fault and its rule
   * @throws {RelayError} `source_unknown` or `registry_read_only`
   */
  update(name: string, patch: SourcePatch): Promise<SourceEntry> {
    return this.patch(name, patch, FIELDS);
  }

  /**
   * Gives a source another write key: the given one, or one that is generated. The present key stays valid for `overlap`
   * ms (default: a day); one from an earlier rotation ends at once.
   *
   * @throws {OptionsError} that names the field at fault and its rule
   * @throws {RelayError} `source_unknown` or `registry_read_only`
   */
  rotateKey(name: string, rotation: { key?: string; overlap?: number } = {}): Promise<CreatedSource> {
    return this.rotate(name, 'writeKey', 'key', rotation, generateKey);
  }

  /** @internal */
  importFixed(): Promise<string[]> {
    return this.copyFixed();
  }

  protected show({ document, ...state }: ShownEntry<'source'>): SourceEntry {
    const { options, previous, createdAt, updatedAt } = document;
    return { name: options.name, ...state, createdAt, updatedAt, previousKeyUntil: previous?.until };
  }
}

function generateKey(): string {
  return `wk_${randomBytes(KEY_BYTES).toString('base64url')}`;
}
