import type { ModuleRef } from '@nestjs/core';

import { ClosedError } from '../../common/relay.errors.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import type { EntryDocuments } from './entry.document.js';
import type { LiveEntries } from './live.entries.js';
import type { EntryOrigin } from './registry-entry.interface.js';

/** An entry of the registry. */
export interface RegisteredEntry<K extends RegistryKind = RegistryKind> {
  /** Absent where it cannot be read. */
  document?: EntryDocuments[K];
  /** Why this process does not use it, or not in this form. */
  fault?: string;
}

/** What an entry becomes: null removes it, undefined leaves it as it is. */
export type EntryChange<K extends RegistryKind> = (
  current: RegisteredEntry<K> | undefined,
) => EntryDocuments[K] | null | undefined;

/** Where sources and destinations come from that the module's options do not declare. */
export abstract class Registry {
  private resolveOpened!: (opening: Promise<void>) => void;
  private rejectOpened!: (reason: Error) => void;
  /** Fulfilled once all entries are in use. */
  readonly opened: Promise<void>;
  protected isClosed = false;

  abstract readonly origin: EntryOrigin;

  constructor(protected readonly entries: LiveEntries) {
    this.opened = new Promise((resolve, reject) => {
      this.resolveOpened = resolve;
      this.rejectOpened = reject;
    });
    this.opened.catch(() => undefined); // it may be that nobody waits
  }

  /** Puts all entries into use, and follows their changes from now on. */
  open(moduleRef: ModuleRef): Promise<void> {
    this.resolveOpened(this.start(moduleRef).then(() => this.entries.warnOfUnknownSources()));
    return this.opened;
  }

  /** Follows changes no more. */
  close(): void {
    this.isClosed = true;
    this.rejectOpened(new ClosedError('the application closed before its registry was open'));
    this.stop();
    this.entries.logger.end();
  }

  abstract names(kind: RegistryKind): Iterable<string>;

  abstract find<K extends RegistryKind>(kind: K, name: string): RegisteredEntry<K> | undefined;

  /**
   * Changes an entry, from what it is now. Resolves once that is durable and in use here.
   *
   * @throws {OptionsError} that names each field at fault and its rule; nothing has changed
   * @throws {RelayError} `registry_read_only` where the application keeps the entries
   */
  abstract change<K extends RegistryKind>(kind: K, name: string, change: EntryChange<K>): Promise<void>;

  protected abstract start(moduleRef: ModuleRef): Promise<void>;

  protected abstract stop(): void;
}
