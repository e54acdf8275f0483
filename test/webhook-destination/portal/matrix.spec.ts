import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { DeliveryQueueFactory } from 'nestjs-analytics-relay';
import { memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { PortalTokens } from '../../../lib/webhook-destination/portal/portal.token.js';
import { PortalKeys } from '../../../lib/webhook-destination/portal/portal.keys.js';
import { type Afterwards, useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { describeOnEach, postgresStore, redisStore, type SharedStore } from '../../support/services.js';
import { sharedQueue } from '../../support/shared-queue.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { PORTAL_ROUTES, type PortalRow } from './routes.js';
import { portalIds, SECRET, startPortal, track } from './support.js';

const OTHER_SECRET = 'another-portal-secret-of-32-bytes-or-more';

const PAGES = ['', '/', '/assets/none.js', '/jwks.json'];

/** Tests every route and page with every kind of link and id, with one application for each store and platform. */
function itKeepsTenantsApart(createQueue: (afterwards: Afterwards) => Promise<DeliveryQueueFactory>) {
  describe.each(platforms)('on $platform', ({ createAdapter }) => {
    const afterwards = useCleanUps();

    it('shows and changes for each link what it allows, of its own tenant alone', async () => {
      const { host, relay, receiver, tokenOf, ask, as } = await startPortal(afterwards, createAdapter(), {
        options: { queue: await createQueue(afterwards) },
      });
      const tokens = {
        revoked: await tokenOf('acme'),
        none: undefined,
        forged: `${(await tokenOf('acme')).slice(0, -2)}xx`,
        ofOtherSecret: new PortalTokens(new PortalKeys(OTHER_SECRET)).sign({
          tenant: 'acme',
          access: 'write',
          expiresAt: Date.now() + 60_000,
          generation: Number.MAX_SAFE_INTEGER,
        }),
        expired: new PortalTokens(new PortalKeys(SECRET)).sign({
          tenant: 'acme',
          access: 'write',
          expiresAt: Date.now() - 1,
          generation: Number.MAX_SAFE_INTEGER,
        }),
      };
      await relay.portal.revoke('acme');
      const read = await tokenOf('acme', 'read');
      const write = await tokenOf('acme');
      const other = await tokenOf('globex');

      const own = await as(write)('POST', 'endpoints', { url: receiver.url });
      const others = await as(other)('POST', 'endpoints', { url: receiver.url });
      await relay.destinations.create({ name: 'crm', urls: [receiver.url], sources: ['shop'] });
      await relay.accept('wk_acme', [track('a1')]);
      await relay.accept('wk_globex', [track('g1')]);
      await relay.accept('wk_shop', [track('s1')]);
      await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 4);
      const deliveryOf = async (token: string, id: string) =>
        (await as(token)('GET', `endpoints/${id}/deliveries`)).deliveries[0]!.id as string;
      const records = await relay.deliveries();
      const concealed = (tenant: string, destination: string) =>
        portalIds().conceal(tenant, records.find((record) => record.destination === destination)!.id);
      const ids = {
        endpoint: {
          own: own.id,
          other: others.id,
          fixed: portalIds().endpoint('operator'),
          ofNobody: portalIds().endpoint('crm'),
          unknown: portalIds().endpoint('none'),
          name: 'operator',
        },
        delivery: {
          own: await deliveryOf(write, own.id),
          other: await deliveryOf(other, others.id),
          fixed: concealed('acme', 'operator'),
          ofNobody: concealed('acme', 'crm'),
          unknown: portalIds().conceal('acme', '999999'),
          name: records[0]!.id,
        },
      };
      const before = await stateOf();

      /** What a request is answered; the text of a refusal. */
      const answerOf = async ({ method, path, body }: PortalRow, id: string, token: string | undefined) => {
        const response = await ask(method, path.replace(':id', id), { token, body });
        expect(response.headers.get('set-cookie')).toBeNull();
        const text = await response.text();
        return { status: response.status, text };
      };
      const kinds = (row: PortalRow) => (row.id ? Object.entries(ids[row.id]) : [['none', '']]);

      // Unknown callers and ended links: the same for every route and id. Too many forged ones are answered 429.
      for (const [kind, token] of Object.entries(tokens)) {
        const rows = PORTAL_ROUTES.flatMap((row) => kinds(row).map(([, id]) => answerOf(row, id, token)));
        const answers = await Promise.all(rows);
        const isForged = kind === 'forged' || kind === 'ofOtherSecret';
        const allowed = isForged ? [401, 429] : [401];
        expect([kind, answers.filter(({ status }) => !allowed.includes(status))]).toEqual([kind, []]);
        const texts = new Set(answers.filter(({ status }) => status === 401).map(({ text }) => text));
        expect([kind, texts.size]).toEqual([kind, kind === 'ofOtherSecret' ? texts.size : 1]);
      }

      // Links that may read: what changes, and secrets, are refused alike for all ids, also of others.
      for (const row of PORTAL_ROUTES) {
        const statuses = await Promise.all(kinds(row).map(([, id]) => answerOf(row, id, read)));
        const expected = kinds(row).map(([kind]) =>
          row.needsWrite ? 403 : ['own', 'none'].includes(kind) ? 200 : 404,
        );
        expect([row.path, statuses.map(({ status }) => status)]).toEqual([row.path, expected]);
        expect(new Set(statuses.filter(({ status }) => status !== 200).map(({ text }) => text)).size).toBeLessThan(2);
      }

      // A link of the other tenant, with ids of this one.
      for (const row of PORTAL_ROUTES.filter(({ id }) => id)) {
        const { status } = await answerOf(row, ids[row.id!].own, other);
        expect([row.path, status]).toEqual([row.path, 404]);
      }

      // Links that may write, with all ids but their own.
      const refusals = new Set<string>();
      for (const row of PORTAL_ROUTES.filter(({ id }) => id)) {
        for (const [kind, id] of kinds(row).filter(([kind]) => kind !== 'own')) {
          const { status, text } = await answerOf(row, id, write);
          expect([row.path, kind, status]).toEqual([row.path, kind, 404]);
          refusals.add(text);
        }
      }
      expect([...refusals]).toEqual([
        JSON.stringify({
          code: 'endpoint_unknown',
          message: 'there is no endpoint or delivery with this id',
          field: 'id',
        }),
      ]);
      expect(await stateOf()).toEqual(before);

      // Links that may write, with their own.
      for (const row of PORTAL_ROUTES) {
        const { status, text } = await answerOf(row, row.id ? ids[row.id].own : '', write);
        expect([row.method, row.path, status, status === 200 ? '' : text]).toEqual([row.method, row.path, 200, '']);
        for (const foreign of ['globex', 'operator', 'crm', 'wk_', others.id]) expect(text).not.toContain(foreign);
      }
      expect((await as(other)('GET', 'endpoints')).endpoints).toEqual(before.globex);

      // The pages are the same for everybody, and hold no data.
      for (const page of PAGES) {
        const texts = await Promise.all(
          [undefined, tokens.forged, read, write, other].map(async (token) => {
            const response = await fetch(`${host}/relay/portal${page}`, {
              redirect: 'manual',
              headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
            });
            expect(response.headers.get('set-cookie')).toBeNull();
            return `${response.status} ${await response.text()}`;
          }),
        );
        expect([page, new Set(texts).size]).toEqual([page, 1]);
      }

      async function stateOf() {
        const deliveries = await relay.deliveries();
        return {
          globex: (await as(other)('GET', 'endpoints')).endpoints,
          destinations: (await relay.destinations.list()).map((entry) => ({ ...entry, updatedAt: undefined })),
          deliveries: deliveries.map(({ id, state, attempts }) => [id, state, attempts.length]),
        };
      }
    });

    it('has a row here for every route', async () => {
      const { app } = await startPortal(afterwards, createAdapter());
      const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
      const documented = Object.entries(paths)
        .filter(([path]) => path.startsWith('/relay/portal/api/'))
        .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
      const rows = PORTAL_ROUTES.map(
        ({ method, path }) => `${method} /relay/portal/api/${path.replace(':id', '{id}')}`,
      );
      expect(documented.sort()).toEqual(rows.sort());
    });
  });
}

describe('Tenants of a portal with the memory queue', () => {
  itKeepsTenantsApart(() => Promise.resolve(memoryQueue()));
});

describe('Tenants of a portal with SQLite', () => {
  itKeepsTenantsApart(async (afterwards) =>
    sqliteQueue({ path: (await temporaryFolder(afterwards)).path('portal.db') }),
  );
});

await describeOnEach([redisStore, postgresStore], (store: SharedStore) => {
  describe(`Tenants of a portal with ${store.name}`, () => {
    itKeepsTenantsApart((afterwards) => {
      const { options, remove } = store.create();
      afterwards(remove);
      return Promise.resolve(sharedQueue(options));
    });
  });
});
