import { randomBytes } from 'node:crypto';

import type { DestinationRateLimit } from '../dispatch/request-limit.js';
import { RequestError } from '../http/request.error.js';
import { generateSecret, type SignatureScheme } from '../receiver/webhook-secret.rules.js';
import type { DestinationManager } from '../registry/destination.manager.js';
import type { DestinationEntry } from '../registry/registry-entry.interface.js';
import type { SourceManager } from '../registry/source.manager.js';
import type { OpaqueIds } from './opaque-ids.js';
import type { PortalOptions } from './portal.options.js';

/** Default of `limits.endpoints`. */
const MAX_ENDPOINTS = 10;

/** Length of the random part of an endpoint's name, in bytes. */
const NAME_BYTES = 18;

/** Name of the description in the metadata. */
export const DESCRIPTION = 'description';

/** What a tenant sets of an endpoint. */
export interface GivenEndpoint {
  url: string;
  /** Null for all events. */
  events?: string[] | null | undefined;
  description?: string | undefined;
}

/**
 * The endpoints of tenants: the destinations of the registry whose metadata names the tenant. Nothing else can be found or
 * changed here, and an id that is not among the tenant's own is always refused in the same way.
 */
export class TenantEndpoints {
  readonly limit: number;
  private readonly key: string;
  private readonly rateLimit: DestinationRateLimit | undefined;
  /** The last creation in progress of each tenant. */
  private readonly creating = new Map<string, Promise<unknown>>();

  constructor(
    private readonly manager: DestinationManager,
    private readonly sources: Pick<SourceManager, 'names'>,
    private readonly ids: OpaqueIds,
    { tenant, limits }: Pick<PortalOptions, 'tenant' | 'limits'>,
  ) {
    this.key = tenant;
    this.limit = limits.endpoints ?? MAX_ENDPOINTS;
    this.rateLimit = limits.rateLimit;
  }

  /** Returns the endpoints of a tenant, the oldest first. */
  async list(tenant: string): Promise<DestinationEntry[]> {
    const all = await this.manager.list({ metadata: this.metadataOf(tenant), limit: Number.MAX_SAFE_INTEGER });
    return all.filter(isEndpoint).sort((one, other) => (one.createdAt ?? 0) - (other.createdAt ?? 0));
  }

  /**
   * Returns the endpoint of a tenant with this id. It compares the ids of all endpoints of the tenant, so the time reveals
   * nothing about other ids.
   *
   * @throws {RequestError} 404
   */
  async find(tenant: string, id: string): Promise<DestinationEntry> {
    const names = await this.manager.names({ metadata: this.metadataOf(tenant) });
    const [name] = names.filter((one) => this.ids.endpoint(one) === id);
    const entry = name === undefined ? undefined : await this.findNamed(tenant, name);
    if (entry) return entry;
    throw unknownEndpoint();
  }

  /** Returns the endpoint of a tenant with this name; undefined if there is none. */
  async findNamed(tenant: string, name: string): Promise<DestinationEntry | undefined> {
    const entry = await this.manager.get(name);
    return entry && isEndpoint(entry) && entry.metadata[this.key] === tenant ? entry : undefined;
  }

  /**
   * Creates an endpoint. Creations of a tenant have turns, so that together they stay within the limit.
   *
   * @throws {RequestError} 409 if the tenant has no source, or as many endpoints as it may have
   */
  async create(
    tenant: string,
    endpoint: GivenEndpoint,
    scheme: SignatureScheme,
  ): Promise<{ entry: DestinationEntry; secret: string }> {
    const earlier = Promise.resolve(this.creating.get(tenant)).catch(() => undefined);
    const created = earlier.then(() => this.createInTurn(tenant, endpoint, scheme));
    this.creating.set(tenant, created);
    try {
      return await created;
    } finally {
      if (this.creating.get(tenant) === created) this.creating.delete(tenant);
    }
  }

  /** @throws {RequestError} 404 if it was removed */
  update(name: string, { url, events, description }: Partial<GivenEndpoint>): Promise<DestinationEntry> {
    const patch = { ...(url !== undefined && { urls: [url] }), ...(events !== undefined && { events }) };
    return this.manager.updateForTenant(name, patch, description === undefined ? {} : { [DESCRIPTION]: description });
  }

  private async createInTurn(tenant: string, { url, events, description }: GivenEndpoint, scheme: SignatureScheme) {
    await this.checkCount(tenant, this.limit - 1);
    const sources = await this.sources.names({ metadata: this.metadataOf(tenant) });
    if (sources.length === 0) {
      const rule = 'the application sends no events of this account yet: ask for it there';
      throw new RequestError('tenant_without_source', rule);
    }
    const name = `portal-${randomBytes(NAME_BYTES).toString('base64url')}`;
    const secret = generateSecret(scheme);
    const { rateLimit } = this;
    const entry = await this.manager.createForTenant({
      name,
      integration: 'Webhooks',
      types: ['track'], // `events` filters these alone
      urls: [url],
      ...(events && { events }),
      sharedSecret: secret,
      ...(rateLimit && { rateLimit }),
      metadata: { ...(description !== undefined && { [DESCRIPTION]: description }), ...this.metadataOf(tenant) },
    });
    try {
      await this.checkCount(tenant, this.limit); // another process may have created one meanwhile
    } catch (error) {
      await this.manager.remove(name);
      throw error;
    }
    return { entry, secret };
  }

  private async checkCount(tenant: string, most: number): Promise<void> {
    if ((await this.list(tenant)).length <= most) return;
    throw new RequestError('endpoint_limit', `there are ${this.limit} endpoints, which is the limit: remove one`);
  }

  private metadataOf(tenant: string): Record<string, string> {
    return { [this.key]: tenant };
  }
}

/** Returns the 404 whose text is the same for what does not exist and what belongs to others. */
export function unknownEndpoint(): RequestError {
  return new RequestError('endpoint_unknown', 'there is no endpoint or delivery with this id', 'id');
}

/** Destinations that are declared in code are the operator's. */
function isEndpoint({ origin }: DestinationEntry): boolean {
  return origin === 'store';
}
