import type { RegistryKind } from '../queue/registry-store.interface.js';

/**
 * Knows which sources and destinations each tenant has: to look through the entries of all tenants takes tens of
 * milliseconds at 30,000.
 */
export class Tenants {
  /** Names of entries, by their kind and tenant. */
  private readonly names = new Map<string, Set<string>>();
  /** Tenants of entries, by their kind and name. */
  private readonly tenants = new Map<string, string>();

  /** @param key name of the tenant in the metadata of entries; undefined if no entry belongs to a tenant */
  constructor(readonly key: string | undefined) {}

  /** Returns the tenant of options, which may be invalid. */
  of(options: object | undefined): string | undefined {
    if (this.key === undefined) return undefined;
    const { metadata } = Object(options) as { metadata?: unknown };
    const tenant = (Object(metadata) as Record<string, unknown>)[this.key];
    return typeof tenant === 'string' && tenant !== '' ? tenant : undefined;
  }

  /** Returns the names of the entries of a tenant, sorted. */
  find(kind: RegistryKind, tenant: string): string[] {
    return [...(this.names.get(`${kind} ${tenant}`) ?? [])].sort();
  }

  /** Records an entry; a removed one has no options. Returns the tenants that have lost or gained it. */
  put(kind: RegistryKind, name: string, options: object | undefined): string[] {
    const key = `${kind} ${name}`;
    const before = this.tenants.get(key);
    const after = this.of(options);
    if (before === after) return [];
    if (before !== undefined) {
      const names = this.names.get(`${kind} ${before}`)!;
      names.delete(name);
      if (names.size === 0) this.names.delete(`${kind} ${before}`);
    }
    if (after === undefined) {
      this.tenants.delete(key);
    } else {
      this.tenants.set(key, after);
      const names = this.names.get(`${kind} ${after}`);
      if (names) names.add(name);
      else this.names.set(`${kind} ${after}`, new Set([name]));
    }
    return [before, after].filter((tenant) => tenant !== undefined);
  }

  /**
   * Returns the fault of a change that would give an entry to another tenant, who would see the deliveries and the secret
   * of the one before.
   */
  findFaults(options: object, changed: { metadata?: object | null }): string[] {
    const tenant = this.of(options);
    if (tenant === undefined || changed.metadata === undefined || this.of(changed) === tenant) return [];
    return ['metadata must keep the tenant: create another destination for another tenant'];
  }
}
