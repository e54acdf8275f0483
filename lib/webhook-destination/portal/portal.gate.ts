import type { IncomingMessage } from 'node:http';

import { RelayError } from '../../client/relay.error.js';
import type { CountedCaller } from '../http/caller.quota.js';
import { SignInLimit } from '../http/sign-in.limit.js';
import type { AddressReader } from '../http/client-address.js';
import { RequestError } from '../http/request.error.js';
import type { PortalLinks } from './portal.links.js';
import type { PortalAccess } from './portal.token.js';

/** The holder of a valid link. */
export interface PortalCaller {
  tenant: string;
  access: PortalAccess;
  person?: string | undefined;
  /** In ms since the epoch. */
  expiresAt: number;
  returnUrl?: string | undefined;
}

/** Authenticates requests to the portal's API by the token of a link. There are no cookies. */
export class PortalGate {
  private readonly limit = new SignInLimit('portal');
  private isOpen = false;

  constructor(
    private readonly links: PortalLinks,
    readonly addressOf: AddressReader,
  ) {}

  /** Admits requests from now on. Called once the queue is open. */
  async open(): Promise<void> {
    await this.links.open();
    this.isOpen = true;
  }

  /**
   * Resolves with the caller of a request.
   *
   * @throws {RequestError} 401, or 429 after too many wrong tokens
   */
  async authenticate(request: IncomingMessage): Promise<PortalCaller> {
    if (!this.isOpen) throw new RelayError('starting', 'the application is still starting');
    const [, token] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) {
      const rule = 'the request needs the token of a portal link as a Bearer token';
      throw new RequestError('portal_token_wrong', rule, 'Authorization');
    }
    const found = await this.links.find(token);
    if (!found) return this.limit.refuse(this.addressOf(request));
    const { state, tenant, access, person, expiresAt, returnUrl } = found;
    if (state === 'valid') return { tenant, access, person, expiresAt, returnUrl };
    const rule = state === 'expired' ? 'the link has expired' : 'the link was revoked';
    throw new RequestError(`portal_token_${state}`, `${rule}; open the portal by a new one`, 'Authorization');
  }
}

/** Returns how a caller is counted: the holders of a tenant's links are one, and no tenant comes before another. */
export function toCountedTenant({ tenant }: PortalCaller): CountedCaller {
  return { access: 'read', key: JSON.stringify(['portal', tenant]) };
}
