import { hash } from 'node:crypto';

import type { SourceOptions } from './source.options.js';

/** A source, with its previous key while that is still accepted. */
export interface KeyedSource extends SourceOptions {
  previousKey?: string;
}

/** Finds the source of a write key. It compares digests, so the time taken reveals nothing about a key. */
export class SourceRegistry {
  /** Source names by digest of the write key. */
  private readonly byKey = new Map<string, string>();
  /** The digests of each source's keys. */
  private readonly digests = new Map<string, string[]>();

  constructor(sources: KeyedSource[]) {
    for (const source of sources) this.put(source);
  }

  get names(): string[] {
    return [...this.digests.keys()];
  }

  /** Accepts the keys of a source in place of its earlier keys. */
  put({ name, writeKey, previousKey }: KeyedSource): void {
    this.remove(name);
    const digests = [writeKey, ...(previousKey === undefined ? [] : [previousKey])].map(digest);
    this.digests.set(name, digests);
    for (const key of digests) this.byKey.set(key, name);
  }

  remove(name: string): void {
    for (const key of this.digests.get(name) ?? []) if (this.byKey.get(key) === name) this.byKey.delete(key);
    this.digests.delete(name);
  }

  has(name: string): boolean {
    return this.digests.has(name);
  }

  /** Returns the name of the source with this write key; undefined if there is none. */
  find(writeKey: string): string | undefined {
    return this.byKey.get(digest(writeKey));
  }
}

function digest(writeKey: string): string {
  return hash('sha256', writeKey, 'base64');
}
