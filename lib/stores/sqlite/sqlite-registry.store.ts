import type { RegistryRecord, RegistryStore } from '../../webhook-destination/queue/registry-store.interface.js';
import type { SqliteThread } from './sqlite-thread.js';

/** Sources and destinations in the file. A replaced or removed document may hold secrets, so its bytes are overwritten. */
export class SqliteRegistryStore implements RegistryStore {
  /** Whether bytes of such documents may be left in the file or its log. */
  mustBeScrubbed = false;

  constructor(private readonly thread: SqliteThread) {}

  read(after: number): Promise<RegistryRecord[]> {
    return this.thread.call('registry', 'read', after);
  }

  async write(record: Omit<RegistryRecord, 'revision'>, expected: number): Promise<number | undefined> {
    const revision = await this.thread.call('registry', 'write', record, expected);
    // A session has no secret: its name is the digest of one.
    this.mustBeScrubbed ||= revision !== undefined && expected > 0 && record.kind !== 'session';
    return revision;
  }

  /** Overwrites what replaced and removed documents have left. */
  async scrub(): Promise<void> {
    if (!this.mustBeScrubbed) return;
    this.mustBeScrubbed = false;
    try {
      await this.thread.call('file', 'scrubRegistry');
    } catch (error) {
      this.mustBeScrubbed = true;
      throw error;
    }
  }
}
