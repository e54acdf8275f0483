import { CallerQuota } from '../../http/caller.quota.js';
import { RateLimiter } from '../../http/rate.limiter.js';
import { refuseUntil, RequestError } from '../../http/request.error.js';
import type { DestinationManager } from '../../registry/destination.manager.js';
import { generateSecret } from '../../receiver/webhook-secret.rules.js';
import { originOf } from '../../registry/new-origin.rules.js';
import type { DestinationEntry } from '../../registry/registry-entry.interface.js';
import { showAttempt } from '../attempt.view.js';
import { type ShownEndpoint, showEndpoint, showSecrets } from '../endpoint.view.js';
import type { EventCatalogue } from '../event-catalogue.js';
import type { OpaqueIds } from '../opaque-ids.js';
import type { TenantDeliveries } from '../tenant.deliveries.js';
import type { TenantEndpoints } from '../tenant.endpoints.js';
import { readDescription, readEvent, readFields, readSignature, readUrl } from './portal.fields.js';
import type { PortalRequest, PortalRoute } from './portal.route.js';
import * as schemas from './portal.schemas.js';

/** Tests allowed for a tenant: each sends a request to a URL of the tenant's choice, and shows what happened. */
const TESTS = { limit: 30, ttl: 60_000 };

/** Tests of tenants in progress: one to a slow receiver takes until its time limit. */
const TESTS_AT_ONCE = { each: 3, readers: 100, all: 100 };

/** Routes of endpoints. */
export function endpointRoutes(
  manager: DestinationManager,
  endpoints: TenantEndpoints,
  deliveries: TenantDeliveries,
  catalogue: EventCatalogue,
  ids: OpaqueIds,
): PortalRoute[] {
  const tests = new RateLimiter(TESTS);
  const testsAtOnce = new CallerQuota(TESTS_AT_ONCE);
  const find = ({ caller, params }: PortalRequest) => endpoints.find(caller.tenant, params.id!);
  const show = (entry: DestinationEntry): Promise<ShownEndpoint> => showEndpoint(entry, manager, ids);
  const activate = (
    verb: string,
    summary: string,
    run: (endpoint: DestinationEntry) => Promise<DestinationEntry>,
  ): PortalRoute => ({
    method: 'POST',
    path: `endpoints/:id/${verb}`,
    access: 'write',
    summary,
    answer: schemas.ACTIVATED,
    handle: async (request) => {
      readFields(request.body);
      const entry = await run(await find(request));
      request.audit({ action: `endpoint.${verb}`, target: entry.name });
      const nothing = { replayed: 0, more: false };
      const { replayed, more } = entry.disabled ? nothing : await deliveries.replayPaused(entry, request);
      return { ...(await show(entry)), replayed, ...(more && { more }) };
    },
  });
  return [
    {
      method: 'GET',
      path: 'endpoints',
      access: 'read',
      summary: 'All endpoints, the oldest first',
      answer: schemas.ENDPOINTS,
      handle: async ({ caller }) => ({
        endpoints: await Promise.all((await endpoints.list(caller.tenant)).map(show)),
      }),
    },
    {
      method: 'POST',
      path: 'endpoints',
      access: 'write',
      summary: 'Create an endpoint; the answer has its secret',
      schema: schemas.NEW_ENDPOINT,
      answer: schemas.ENDPOINT_WITH_SECRET,
      handle: async ({ caller, body, audit }) => {
        const given = readFields(body, 'url', 'events', 'description', 'signature');
        const scheme = readSignature(given.signature) ?? 'v1';
        const { entry, secret } = await endpoints.create(
          caller.tenant,
          {
            url: readUrl(given.url),
            events: given.events as string[] | null | undefined,
            description: readDescription(given.description),
          },
          scheme,
        );
        audit({ action: 'endpoint.create', target: entry.name, details: changesOf(given) });
        return { ...(await show(entry)), ...(scheme === 'v1' && { secret }) };
      },
    },
    {
      method: 'GET',
      path: 'endpoints/:id',
      access: 'read',
      summary: 'One endpoint, with the numbers of its deliveries',
      answer: schemas.ENDPOINT_WITH_COUNTS,
      handle: async (request) => {
        const entry = await find(request);
        return { ...(await show(entry)), counts: await deliveries.count(entry) };
      },
    },
    {
      method: 'PATCH',
      path: 'endpoints/:id',
      access: 'write',
      summary: 'Change fields of an endpoint',
      schema: schemas.ENDPOINT_CHANGES,
      answer: schemas.ENDPOINT,
      handle: async (request) => {
        const { name } = await find(request);
        const { url, events, description } = readFields(request.body, 'url', 'events', 'description');
        const entry = await endpoints.update(name, {
          url: url === undefined ? undefined : readUrl(url),
          events: events as string[] | null | undefined,
          description: readDescription(description),
        });
        request.audit({ action: 'endpoint.update', target: name, details: changesOf(request.body) });
        return show(entry);
      },
    },
    {
      method: 'DELETE',
      path: 'endpoints/:id',
      access: 'write',
      summary: 'Remove an endpoint; what was not delivered is not sent any more',
      answer: schemas.REMOVED,
      handle: async (request) => {
        const { name } = await find(request);
        await manager.remove(name);
        request.audit({ action: 'endpoint.remove', target: name });
        return { removed: true };
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/pause',
      access: 'write',
      summary: 'Keep its events without sending them',
      answer: schemas.ENDPOINT,
      handle: async (request) => {
        readFields(request.body);
        const { name } = await find(request);
        const entry = await manager.pauseForTenant(name);
        request.audit({ action: 'endpoint.pause', target: name });
        return show(entry);
      },
    },
    // The application may have paused it, too.
    activate('resume', 'Resume it, and send what was kept while it was paused', async ({ name, disabled }) => {
      if (disabled?.reason === 'paused') await manager.enable(name);
      return manager.resume(name);
    }),
    activate('enable', 'Enable it, and send what was kept while it was paused', ({ name }) => manager.enable(name)),
    {
      method: 'POST',
      path: 'endpoints/:id/rotate-secret',
      access: 'write',
      summary: 'Rotate the secret; both secrets sign until the overlap ends',
      schema: schemas.ROTATION,
      answer: schemas.ENDPOINT_WITH_SECRET,
      handle: async (request) => {
        const entry = await find(request);
        const { name } = entry;
        const { overlap, signature } = readFields(request.body, 'overlap', 'signature');
        const present = (await show(entry)).signature;
        const scheme = readSignature(signature) ?? (present === 'none' ? 'v1' : present);
        const secret = generateSecret(scheme);
        const rotated = await manager.rotateSecret(name, {
          secret,
          ...(overlap !== undefined && { overlap: overlap as number }),
        });
        request.audit({ action: 'endpoint.rotate-secret', target: name, details: { overlap, signature } });
        return { ...(await show(rotated)), ...(scheme === 'v1' && { secret }) };
      },
    },
    {
      method: 'GET',
      path: 'endpoints/:id/secret',
      access: 'write',
      summary: 'The secret, or the public key; recorded in the audit log',
      answer: schemas.SECRETS,
      handle: async (request) => {
        const { name } = await find(request);
        const secrets = await showSecrets(name, manager);
        request.audit({ action: 'endpoint.secret', target: name });
        return secrets;
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/test',
      access: 'write',
      summary: 'Send an example of an event now, outside the queue',
      schema: schemas.TEST,
      answer: schemas.TESTED,
      handle: async (request) => {
        const { name } = await find(request);
        const event = readEvent(readFields(request.body, 'event').event);
        refuseUntil(tests.count(request.caller.tenant), 'too many tests', 'event');
        const message: Record<string, unknown> = { ...catalogue.find(event)?.example, type: 'track', event };
        delete message.messageId; // receivers would take the next test for the same message
        const share = testsAtOnce.take(request.counted, 1);
        if (!share) throw new RequestError('rate_limited', 'other tests are in progress; try again in 1 s', 'event');
        const attempt = await manager.test(name, message).finally(() => share.release());
        request.audit({ action: 'endpoint.test', target: name, details: { event } });
        return { attempt: showAttempt(attempt) };
      },
    },
  ];
}

/** Returns what the audit log has of a body: of the URL, the origin. */
function changesOf({ url, events, description, signature }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...(url !== undefined && { origin: originOf(url) }),
    ...(events !== undefined && { events }),
    ...(description !== undefined && { description: '***' }),
    ...(signature !== undefined && { signature }),
  };
}
