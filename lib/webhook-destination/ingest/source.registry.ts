import { hash } from 'node:crypto';

import type { SourceOptions } from './source.options.js';

/** Finds the source of a write key. It compares digests, so the time taken reveals nothing about a key. */
export class SourceRegistry {
  private readonly names: Map<string, string>;

  constructor(sources: SourceOptions[]) {
    this.names = new Map(sources.map(({ name, writeKey }) => [digest(writeKey), name]));
  }

  /** The name of the source that has this write key, or undefined where none has. */
  find(writeKey: string): string | undefined {
    return this.names.get(digest(writeKey));
  }
}

function digest(writeKey: string): string {
  return hash('sha256', writeKey, 'base64');
}
