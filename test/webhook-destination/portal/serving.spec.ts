import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { INestApplication } from '@nestjs/common';
import {
  AnalyticsModule,
  defineEvent,
  memoryQueue,
  type PortalOptions,
  WebhookDestinationModule,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { startRelayApp } from '../../support/relay.app.js';
import { SECRET, startPortal } from './support.js';

/** As helmet and `enableCors()` do. */
const withHeaders = (app: INestApplication) => {
  app.enableCors({ origin: true, credentials: true });
  app.use((_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
    response.setHeader('X-Frame-Options', 'SAMEORIGIN');
    response.setHeader('Content-Security-Policy', "frame-ancestors 'self'");
    next();
  });
};

describe.each(platforms)('The pages of the portal on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('are framed by nobody, send no referrer and set no cookie', async () => {
    const { host } = await startPortal(afterwards, createAdapter(), { prepare: withHeaders });
    const page = await fetch(`${host}/relay/portal/`, { headers: { Origin: 'https://app.example' } });
    expect(page.status).toBe(200);
    const header = (name: string) => page.headers.get(name);
    expect(header('content-type')).toBe('text/html; charset=utf-8');
    expect(header('content-security-policy')).toMatch(/default-src 'none'; .*; frame-ancestors 'none'$/);
    expect(header('referrer-policy')).toBe('no-referrer');
    expect(header('x-content-type-options')).toBe('nosniff');
    for (const name of ['set-cookie', 'x-frame-options', 'access-control-allow-origin'])
      expect(header(name)).toBeNull();
    const again = await fetch(`${host}/relay/portal/`, { headers: { 'If-None-Match': header('etag')! } });
    expect(again.status).toBe(304);
    const bare = await fetch(`${host}/relay/portal`, { redirect: 'manual' });
    expect([bare.status, bare.headers.get('location')]).toEqual([302, 'portal/']);
    expect((await fetch(`${host}/relay/portal/`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${host}/relay/portal/assets/none.js`)).status).toBe(404);
    expect((await fetch(`${host}/relay/portal/other`)).status).toBe(404);
    expect((await fetch(`${host}/relay/`)).status).toBe(404); // there is no dashboard
  });

  it('are framed by the origins of the option, and show its logo', async () => {
    const { host } = await startPortal(afterwards, createAdapter(), {
      portal: {
        embed: ['https://app.example', 'http://localhost:5173'],
        brand: { name: 'Shop', logo: 'https://cdn.example/logo.svg' },
      },
    });
    const { headers } = await fetch(`${host}/relay/portal/`);
    const policy = headers.get('content-security-policy');
    expect(policy).toMatch(/; frame-ancestors https:\/\/app\.example http:\/\/localhost:5173$/);
    expect(policy).toContain("img-src 'self' data: https://cdn.example;");
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  });

  it('are below the global prefix as well, beside the dashboard', async () => {
    const { host } = await startPortal(afterwards, createAdapter(), {
      options: { admin: { token: 'admin-token' } },
      prepare: (nest) => nest.setGlobalPrefix('api'),
    });
    for (const path of [
      '/relay/portal/',
      '/api/relay/portal/',
      '/relay/',
      '/api/relay/',
      '/api/relay/portal/jwks.json',
    ]) {
      expect([path, (await fetch(host + path)).status]).toEqual([path, 200]);
    }
    expect((await fetch(`${host}/other/relay/portal/`)).status).toBe(404);
  });

  it('have public keys beside them, which anyone may read', async () => {
    const { host, as, tokenOf } = await startPortal(afterwards, createAdapter());
    const acme = as(await tokenOf('acme'));
    const { publicKey } = await acme('POST', 'endpoints', { url: 'https://acme.example/hook', signature: 'v1a' });
    const response = await fetch(`${host}/relay/portal/jwks.json`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const { keys } = (await response.json()) as { keys: { kid: string; x: string }[] };
    const x = Buffer.from(String(publicKey).slice('whpk_'.length), 'base64').toString('base64url');
    expect(keys).toEqual([{ kty: 'OKP', crv: 'Ed25519', x, kid: expect.any(String), use: 'sig', alg: 'EdDSA' }]);
    const headers = { 'If-None-Match': response.headers.get('etag')! };
    expect((await fetch(`${host}/relay/portal/jwks.json`, { headers })).status).toBe(304);
    const one = await fetch(`${host}/relay/portal/jwks.json?kid=${keys[0]!.kid}`);
    expect(await one.json()).toEqual({ keys });
    expect(await (await fetch(`${host}/relay/portal/jwks.json?kid=other`)).json()).toEqual({ keys: [] });
  });

  it('have the events of the tracking plan, unless the option lists some', async () => {
    const planned = defineEvent('Order Completed', z.object({ orderId: z.string() }));
    const metadata = {
      imports: [AnalyticsModule.forRoot({ writeKey: 'wk_acme', trackingPlan: { events: [planned] } })],
    };
    const namesOf = async (portal: Partial<PortalOptions>) => {
      const { as, tokenOf, relay } = await startPortal(afterwards, createAdapter(), { metadata, portal });
      const { events } = await as(await tokenOf('acme', 'read'))('GET', 'events');
      const { webhooks } = relay.portal.openApi() as { webhooks: object };
      return [(events as { name: string }[]).map(({ name }) => name), Object.keys(webhooks)];
    };
    expect(await namesOf({})).toEqual([['Order Completed'], ['Order Completed']]);
    expect(await namesOf({ events: [{ name: 'Pinged' }] })).toEqual([['Pinged'], ['Pinged']]);
  });

  it('and the API are not there without the option', async () => {
    const { app, host } = await startRelayApp(afterwards, createAdapter(), {
      options: { admin: { token: 'admin-token' } },
    });
    for (const path of ['', '/', '/api/session', '/jwks.json']) {
      expect([path, (await fetch(`${host}/relay/portal${path}`)).status]).toEqual([path, 404]);
    }
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    expect(Object.keys(paths).filter((path) => path.includes('portal'))).toEqual([]);
  });

  it('have an API that the OpenAPI document describes with all bodies', async () => {
    const { app } = await startPortal(afterwards, createAdapter(), { prepare: (nest) => nest.setGlobalPrefix('api') });
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    const own = Object.entries(paths).filter(([path]) => path.startsWith('/api/relay/portal/'));
    expect(own.map(([path]) => path)).toContain('/api/relay/portal/api/endpoints/{id}/deliveries');
    type Operation = { operationId: string; security?: object[]; responses: Record<string, { content?: object }> };
    const operations = own.flatMap(([path, methods]) =>
      (Object.entries(methods) as [string, Operation][]).map(([method, operation]) => ({ path, method, operation })),
    );
    for (const { path, method, operation } of operations) {
      const isKeys = path.endsWith('jwks.json');
      expect([path, method, operation.security]).toEqual([path, method, isKeys ? undefined : [{ bearer: [] }]]);
      if (!isKeys) expect([path, method, operation.responses['200']!.content]).not.toEqual([path, method, undefined]);
    }
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
    const { responses, requestBody } = paths['/api/relay/portal/api/endpoints']!.post!;
    expect(requestBody).toMatchObject({ content: { 'application/json': { schema: { required: ['url'] } } } });
    expect(responses['200']).toMatchObject({
      content: {
        'application/json': { schema: { properties: { secret: { type: 'string' }, id: { type: 'string' } } } },
      },
    });
  });

  it('are of one module: a second one stops the start', async () => {
    const second = WebhookDestinationModule.forRoot({
      registry: 'store',
      queue: memoryQueue(),
      ingest: { prefix: 'v2' },
      portal: { secret: SECRET },
    });
    await expect(startPortal(afterwards, createAdapter(), { metadata: { imports: [second] } })).rejects.toThrow(
      'portal must be set in only one module of the application',
    );
  });
});
