import { ArgumentError } from '../../common/relay.errors.js';
import { isNonEmptyString } from '../../common/value.util.js';
import type { AuditLog } from '../observe/audit.log.js';
import { MAX_METADATA_VALUE } from '../entry.rules.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import type { EventCatalogue } from './event-catalogue.js';
import type { PortalKeys } from './portal.keys.js';
import { type PortalAccess, type PortalClaims, PortalTokens } from './portal.token.js';
import { MAX_LINK_TIME, Revocations } from './revocations.js';

/** Path of the portal. */
export const PORTAL_PATH = '/relay/portal';

/** Default of `expiresIn`, in ms: an hour. */
const LINK_TIME = 3_600_000;

/** Maximum length of `person`, in characters. */
export const MAX_PERSON = 200;
const MAX_URL = 2_000;

export const TENANT_RULE = `tenant must be a non-empty string of at most ${MAX_METADATA_VALUE} characters`;

/** Options of {@link PortalLinks.link}. */
export interface PortalLinkOptions {
  /** `'read'`, or `'write'` to change endpoints, see and rotate secrets, test and replay. Default: required. */
  access: PortalAccess;
  /**
   * How long the link lasts, in ms, at most 604,800,000 (7 days).
   * @default 3_600_000
   */
  expiresIn?: number;
  /** Page of the application that the portal links back to: an http or https URL. Default: none. */
  returnUrl?: string;
  /** Who gets the link, for the audit log: 1 to 200 characters. Default: none. */
  person?: string;
}

/** A link to the portal of a tenant. */
export interface PortalLink {
  /**
   * Path of the portal's pages on the application's origin, below its global prefix, with the token in the fragment,
   * which browsers send to no server.
   */
  url: string;
  /** Bearer token for the portal's API. */
  token: string;
  expiresAt: Date;
}

/**
 * Links to the customers' portal: `service.portal`.
 * @see docs/portal.md
 */
export class PortalLinks {
  /** @internal Path of the pages, with the application's global prefix once this is known. */
  base = PORTAL_PATH;
  private readonly tokens: PortalTokens;
  private readonly revocations: Revocations;
  private opened: Promise<void> | undefined;

  /**
   * @internal
   * @param ready resolves once the queue is open
   */
  constructor(
    keys: PortalKeys,
    private readonly catalogue: Pick<EventCatalogue, 'openApi' | 'asyncApi'>,
    private readonly queue: Pick<DeliveryQueue, 'now' | 'registry'>,
    private readonly audit: AuditLog,
    private readonly ready: () => Promise<void>,
  ) {
    this.tokens = new PortalTokens(keys);
    this.revocations = new Revocations(queue);
  }

  /**
   * Makes a link with which a tenant sees its own endpoints and deliveries, and with `access: 'write'` changes them.
   *
   * @param tenant value of the metadata that the option `portal.tenant` names
   * @throws {ArgumentError} naming the invalid argument and its rule
   * @throws {QueueUnavailableError} if the store of the queue cannot be read
   */
  async link(tenant: string, options: PortalLinkOptions): Promise<PortalLink> {
    checkTenant(tenant);
    const { access, expiresIn = LINK_TIME, returnUrl, person } = checkLink(options);
    await this.open();
    const generation = await this.revocations.generationOf(tenant);
    const expiresAt = Math.floor(this.queue.now() + expiresIn);
    const token = this.tokens.sign({ tenant, access, expiresAt, generation, person, returnUrl });
    return { url: `${this.base}/#${token}`, token, expiresAt: new Date(expiresAt) };
  }

  /**
   * Ends all links of a tenant. Resolves once that is stored: from then on this process refuses them, and others within a
   * second. Links made later are valid.
   *
   * @throws {ArgumentError} naming the invalid argument and its rule
   * @throws {QueueUnavailableError} if the store of the queue cannot be written
   */
  async revoke(tenant: string): Promise<void> {
    checkTenant(tenant);
    await this.open();
    await this.revocations.revoke(tenant);
    this.audit.record({ action: 'portal.revoke', by: 'application', tenant });
  }

  /** Returns an OpenAPI 3.1 document with a webhook for each event that the application sends. */
  openApi(): object {
    return this.catalogue.openApi();
  }

  /** Returns an AsyncAPI 3.0 document with a message for each event that the application sends. */
  asyncApi(): object {
    return this.catalogue.asyncApi();
  }

  /** @internal Resolves once all revocations are known. */
  open(): Promise<void> {
    this.opened ??= this.ready().then(() => this.revocations.open());
    return this.opened;
  }

  /** @internal Called before the queue closes. */
  close(): void {
    this.revocations.close();
  }

  /**
   * @internal Returns what a token says; undefined for one that was not made here.
   * @throws {QueueUnavailableError} if it may have been revoked, and the store cannot be read
   */
  async find(token: string): Promise<(PortalClaims & { state: 'valid' | 'expired' | 'revoked' }) | undefined> {
    const claims = this.tokens.read(token);
    if (!claims) return undefined;
    if (this.queue.now() >= claims.expiresAt) return { ...claims, state: 'expired' };
    const isRevoked = await this.revocations.isRevoked(claims.tenant, claims.generation);
    return { ...claims, state: isRevoked ? 'revoked' : 'valid' };
  }
}

/** Whether metadata can name the tenant. */
export function isTenant(tenant: unknown): tenant is string {
  return isNonEmptyString(tenant) && tenant.length <= MAX_METADATA_VALUE;
}

/** @throws {ArgumentError} */
function checkTenant(tenant: unknown): void {
  if (!isTenant(tenant)) throw new ArgumentError(TENANT_RULE);
}

/** @throws {ArgumentError} */
function checkLink(options: PortalLinkOptions): PortalLinkOptions {
  if (typeof options !== 'object' || options === null) {
    throw new ArgumentError("the options of a link must be an object with access: 'read' or 'write'");
  }
  const { access, expiresIn, returnUrl, person, ...others } = options as Record<keyof PortalLinkOptions, unknown>;
  const [other] = Object.keys(others);
  const faults = [
    other !== undefined && `${other} is not an option of a link`,
    access !== 'read' && access !== 'write' && "access must be 'read' or 'write'",
    expiresIn !== undefined &&
      !(typeof expiresIn === 'number' && expiresIn > 0 && expiresIn <= MAX_LINK_TIME) &&
      `expiresIn must be a number of milliseconds above 0, at most ${MAX_LINK_TIME}`,
    returnUrl !== undefined &&
      !isHttpUrl(returnUrl) &&
      `returnUrl must be an http or https URL of at most ${MAX_URL} characters`,
    person !== undefined &&
      !(isNonEmptyString(person) && person.length <= MAX_PERSON) &&
      `person must be a non-empty string of at most ${MAX_PERSON} characters`,
  ];
  const fault = faults.find((one) => typeof one === 'string');
  if (fault) throw new ArgumentError(fault);
  return options;
}

function isHttpUrl(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.length <= MAX_URL &&
    /^https?:\/\/[^\s\\/?#]\S*$/i.test(value) &&
    URL.canParse(value)
  );
}
