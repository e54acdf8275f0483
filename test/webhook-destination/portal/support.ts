import type { AbstractHttpAdapter } from '@nestjs/core';
import type { PortalOptions, WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';

import { OpaqueIds } from '../../../lib/webhook-destination/portal/opaque-ids.js';
import { PortalKeys } from '../../../lib/webhook-destination/portal/portal.keys.js';
import type { Afterwards } from '../../support/clean-ups.js';
import { type RelayAppOptions, startRelayApp } from '../../support/relay.app.js';

export const SECRET = 'portal-secret-of-the-tests-of-32-bytes';

/** A JSON answer: what tests look into. */
export interface PortalAnswer {
  id: string;
  code: string;
  message: string;
  field?: string;
  state: string;
  secret?: string;
  cursor?: string;
  endpoints: Record<string, unknown>[];
  deliveries: Record<string, unknown>[];
  [field: string]: unknown;
}

export interface PortalAsk {
  body?: unknown;
  token?: string | undefined;
  headers?: Record<string, string>;
}

/** The fixed sources of the tests: one of each tenant, and one of none. */
export const SOURCES = [
  { name: 'shop', writeKey: 'wk_shop' },
  { name: 'acme', writeKey: 'wk_acme', metadata: { tenant: 'acme' } },
  { name: 'globex', writeKey: 'wk_globex', metadata: { tenant: 'globex' } },
];

/** Starts a relay with a portal for the tenants `acme` and `globex`; the fixed destination is the operator's. */
export async function startPortal(
  afterwards: Afterwards,
  adapter: AbstractHttpAdapter,
  {
    options = {},
    portal = {},
    prefix = '',
    ...others
  }: Omit<RelayAppOptions, 'options'> & {
    options?: Partial<WebhookDestinationModuleOptions>;
    portal?: Partial<PortalOptions>;
    prefix?: string;
  } = {},
) {
  const started = await startRelayApp(afterwards, adapter, {
    ...others,
    destination: { name: 'operator', sources: ['shop'], metadata: { tenant: 'acme' }, ...others.destination },
    options: { registry: 'store', sources: SOURCES, portal: { secret: SECRET, ...portal }, ...options },
  });
  const { host, relay } = started;
  const tokenOf = async (tenant: string, access: 'read' | 'write' = 'write') =>
    (await relay.portal.link(tenant, { access })).token;
  const ask = (method: string, path: string, { body, token, headers }: PortalAsk = {}) =>
    fetch(`${host}${prefix}/relay/portal/api/${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
  const json = async (method: string, path: string, asked?: PortalAsk) => {
    const response = await ask(method, path, asked);
    return { status: response.status, answer: (await response.json()) as PortalAnswer, response };
  };
  /** Asks as a tenant; fails unless the request succeeds. */
  const as = (token: string) => async (method: string, path: string, body?: unknown) => {
    const { status, answer } = await json(method, path, { token, body });
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  /** Asks as a tenant for what is refused. */
  const refused = (token: string) => async (method: string, path: string, body?: unknown) => {
    const { status, answer } = await json(method, path, { token, body });
    return { status, ...answer };
  };
  return { ...started, tokenOf, ask, json, as, refused };
}

/** The ids that the portal of the tests has. */
export const portalIds = () => new OpaqueIds(new PortalKeys(SECRET));

/** A track message. */
export const track = (messageId: string, fields: Record<string, unknown> = {}) => ({
  type: 'track',
  event: 'Ordered',
  userId: 'u1',
  messageId,
  ...fields,
});
