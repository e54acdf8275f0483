import { createHash } from 'node:crypto';

import { parseJson } from '../../common/value.util.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import { type RegistryRecord, REVOCATION_START } from '../queue/registry-store.interface.js';
import { StoreFollower } from '../registry/store.follower.js';

/** Longest lifetime of a link, in ms: 7 days. A revocation is kept as long. */
export const MAX_LINK_TIME = 7 * 24 * 60 * 60 * 1_000;

/** Maximum number of old revocations that a new one removes. */
const REMOVED = 20;

/** A revocation as a process knows it. */
interface Revocation {
  revision: number;
  /** In ms since the epoch. */
  at: number;
  /** Whether the store has lost it, as in a failover. It stays in force here. */
  isLost?: boolean;
}

/**
 * The revocations of links. Each is a record of the queue's store, beside the sessions of the admin API, so that all
 * processes know it. Its revision grows with each revocation of the tenant, and a token has the one that it was made
 * after: that is compared, because the clocks of processes differ. The store has a digest of the tenant as the name.
 */
export class Revocations {
  private readonly known = new Map<string, Revocation>();
  private readonly follower: StoreFollower<'session'>;

  constructor(private readonly queue: Pick<DeliveryQueue, 'now' | 'registry'>) {
    const subject = 'The revocations of portal links';
    this.follower = new StoreFollower(queue.registry, ['session'], subject, (...read) => this.apply(...read));
  }

  /** Resolves once all revocations are known. Called once the queue is open. */
  open(): Promise<void> {
    return this.follower.start();
  }

  close(): void {
    this.follower.stop();
  }

  /** Resolves with the generation of new tokens of a tenant. */
  async generationOf(tenant: string): Promise<number> {
    await this.catchUp();
    return this.known.get(nameOf(tenant))?.revision ?? 0;
  }

  /**
   * Resolves with whether a tenant's tokens of a generation are revoked.
   *
   * @throws {QueueUnavailableError} if this process has not read the store for 5 minutes, and cannot
   */
  async isRevoked(tenant: string, generation: number): Promise<boolean> {
    if (this.follower.isOutdated) await this.catchUp();
    const revocation = this.known.get(nameOf(tenant));
    return revocation !== undefined && generation < revocation.revision;
  }

  /** Revokes the present tokens of a tenant. Resolves once that is stored. */
  async revoke(tenant: string): Promise<void> {
    const name = nameOf(tenant);
    const at = this.queue.now();
    await this.catchUp();
    while (!(await this.write(name, at))) await this.follower.reload(); // another process has revoked them, too
    const old = [...this.known].filter(([, known]) => known.at < at - MAX_LINK_TIME).slice(0, REMOVED);
    for (const [other] of old) await this.write(other, undefined);
  }

  /** @throws {QueueUnavailableError} if the store cannot be read */
  private catchUp(): Promise<void> {
    return this.follower.requireLatest('the revocations');
  }

  /** Resolves with whether the record had the known revision, once the change is in use. */
  private async write(name: string, at: number | undefined): Promise<boolean> {
    const document = at === undefined ? undefined : JSON.stringify({ at });
    const record = { kind: 'session' as const, name, document };
    const { revision: expected, isLost } = this.known.get(name) ?? { revision: 0 };
    const revision = await this.queue.registry.write(record, isLost ? 0 : expected);
    if (revision !== undefined) await this.follower.applied({ ...record, revision });
    return revision !== undefined;
  }

  private apply(records: RegistryRecord<'session'>[], areAll: boolean): Promise<void> {
    if (areAll) for (const revocation of this.known.values()) revocation.isLost = true;
    for (const { name, revision, document } of records) {
      if (!name.startsWith(REVOCATION_START)) continue;
      if (document === undefined) this.known.delete(name);
      else this.known.set(name, { revision, at: Number((Object(parseJson(document)) as { at?: unknown }).at) });
    }
    return Promise.resolve();
  }
}

function nameOf(tenant: string): string {
  return REVOCATION_START + createHash('sha256').update(tenant).digest('hex');
}
