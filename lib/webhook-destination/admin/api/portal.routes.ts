import { RequestError } from '../../http/request.error.js';
import { isTenant, MAX_PERSON, type PortalLinks, TENANT_RULE } from '../../portal/portal.links.js';
import type { ApiRoute } from './api.route.js';

/** How long a link of an operator lasts, in ms. */
const LINK_TIME = 600_000;

/** The route with which an operator sees what a tenant sees. */
export function portalRoutes(links: Pick<PortalLinks, 'link'>): ApiRoute[] {
  return [
    {
      method: 'POST',
      path: 'portal/links',
      access: 'read',
      summary:
        'Make a link to the portal of a tenant that lasts ten minutes and may only read: it shows what the tenant sees',
      schema: { type: 'object', required: ['tenant'], properties: { tenant: { type: 'string' } } },
      handle: async ({ body, caller, audit }) => {
        const { tenant } = body;
        if (!isTenant(tenant)) throw new RequestError('argument_invalid', TENANT_RULE, 'tenant');
        const person = caller.user === undefined ? {} : { person: caller.user.slice(0, MAX_PERSON) };
        const { url, expiresAt } = await links.link(tenant, { access: 'read', expiresIn: LINK_TIME, ...person });
        audit({ action: 'portal.link', target: tenant });
        return { url, expiresAt: expiresAt.getTime() };
      },
    },
  ];
}
