import { isNonEmptyString } from '../../../common/value.util.js';
import { RequestError } from '../../http/request.error.js';
import { MAX_METADATA_VALUE } from '../../metadata.rules.js';
import type { PortalLinks } from '../../portal/portal.links.js';
import type { ApiRoute } from './api.route.js';

/** How long a link of an operator lasts, in ms. */
const LINK_TIME = 600_000;

/** Maximum length of the name of an operator in a link, in characters. */
const MAX_PERSON = 200;

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
        if (!isNonEmptyString(tenant) || tenant.length > MAX_METADATA_VALUE) {
          const rule = `tenant must be a non-empty string of at most ${MAX_METADATA_VALUE} characters`;
          throw new RequestError('argument_invalid', rule, 'tenant');
        }
        const person = caller.user === undefined ? {} : { person: caller.user.slice(0, MAX_PERSON) };
        const { url, expiresAt } = await links.link(tenant, { access: 'read', expiresIn: LINK_TIME, ...person });
        audit({ action: 'portal.link', target: tenant });
        return { url, expiresAt: expiresAt.getTime() };
      },
    },
  ];
}
