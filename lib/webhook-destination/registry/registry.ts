import type { ModuleRef } from '@nestjs/core';

import { deferred } from '../../common/promise.util.js';
import { ClosedError } from '../../common/relay.errors.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import type { EntryDocuments } from './entry.document.js';
import type { LiveEntries } from './live-entries.js';
import type { EntryOrigin } from './registry-entry.interface.js';

export interface RegisteredEntry<K extends RegistryKind = RegistryKind> {
  /** Absent if it cannot be read. */
  document?: EntryDocuments[K];
  /** Why this process ignores the entry, or keeps its last valid form. */
  fault?: string;
  /** The document in use; the last valid one if `document` is invalid, absent if there is none. */
  live?: EntryDocuments[K];
}

/** Returns the new document of an entry; null removes the entry, undefined leaves it unchanged. */
export type EntryChange<K extends RegistryKind> = (
  current: RegisteredEntry<K> | undefined,
) => EntryDocuments[K] | null | undefined;

/** Registry of the sources and destinations that the module's options do not declare. */
export abstract class Registry {
  private readonly opening = deferred<void>();
  protected readonly opened = this.opening.promise;
  /** Called when entries are needed, possibly before {@link open}. */
  onNeeded: () => void = () => undefined;
  protected isClosed = false;

  abstract readonly origin: EntryOrigin;

  constructor(protected readonly entries: LiveEntries) {}

  /** Resolves once all entries are in use. */
  ready(): Promise<void> {
    this.onNeeded();
    return this.opened;
  }

  /** Puts all entries into use, and follows their changes from now on. */
  open(moduleRef: ModuleRef): Promise<void> {
    this.opening.resolve(this.start(moduleRef).then(() => this.entries.warnOfUnknownSources()));
    return this.opened;
  }

  /** Stops following changes. */
  close(): void {
    this.isClosed = true;
    this.opening.reject(new ClosedError('the application closed before its registry was open'));
    this.stop();
    this.entries.logger.end();
  }

  abstract names(kind: RegistryKind): Iterable<string>;

  abstract find<K extends RegistryKind>(kind: K, name: string): RegisteredEntry<K> | undefined;

  /**
   * Changes an entry based on its current document. Resolves once the change is durable and in use in this process.
   *
   * @throws {OptionsError} naming each invalid field and its rule; nothing has changed then
   * @throws {RelayError} `registry_read_only` if the application keeps the entries
   */
  abstract change<K extends RegistryKind>(kind: K, name: string, change: EntryChange<K>): Promise<void>;

  protected abstract start(moduleRef: ModuleRef): Promise<void>;

  protected abstract stop(): void;
}
