import { VersioningType } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { memoryQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { platforms } from '../../../support/platforms.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { startApi, TOKEN } from './support.js';

describe.each(platforms)('The API on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  it('is at the root and below the global prefix, without a version', async () => {
    const { host, app } = await startApi(cleanUp, createAdapter(), {
      prepare: (nest) =>
        nest.setGlobalPrefix('/my/api').enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
    });
    const statusOf = async (path: string, token = TOKEN) =>
      (await fetch(`${host}${path}`, { headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await statusOf('/relay/api/overview')).toBe(200);
    expect(await statusOf('/my/api/relay/api/overview')).toBe(200);
    expect(await statusOf('/my/api/relay/api/overview/')).toBe(200);
    expect(await statusOf('/my/api/relay/api/overview', 'wrong')).toBe(401);
    expect(await statusOf(`/my/api/relay/api/destinations/${'x'.repeat(90)}`)).toBe(404);
    for (const path of ['/v1/relay/api/overview', '/relay/apis/overview', '/other/relay/api/overview']) {
      expect([path, await statusOf(path)]).toEqual([path, 404]);
    }
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    const listed = Object.keys(paths).filter((path) => path.includes('relay'));
    expect(listed).toContain('/my/api/relay/api/deliveries/{id}/replay');
    expect(listed.every((path) => path.startsWith('/my/api/relay/api/'))).toBe(true);
    const search = paths['/my/api/relay/api/deliveries']!.get!;
    expect(search).toMatchObject({ tags: ['analytics'], security: [{ bearer: [] }], summary: expect.any(String) });
    expect(search.parameters).toContainEqual(expect.objectContaining({ name: 'cursor', in: 'query', required: false }));
    expect(paths['/my/api/relay/api/replays']!.post!.requestBody).toMatchObject({
      content: { 'application/json': { schema: { required: ['query', 'expected'] } } },
    });
    const ids = Object.values(paths).flatMap((methods) =>
      (Object.values(methods) as { operationId: string }[]).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is not there without the option admin: neither routes nor documents', async () => {
    const { app, host } = await startRelayApp(cleanUp, createAdapter());
    for (const path of ['relay', 'relay/api', 'relay/api/overview', 'relay/api/session', 'relay/api/events']) {
      expect((await fetch(`${host}/${path}`)).status).toBe(404);
    }
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    expect(Object.keys(paths).filter((path) => path.includes('relay'))).toEqual([]);
  });

  it('is that of one module: a second one stops the start', async () => {
    const second = WebhookDestinationModule.forRoot({
      sources: [],
      destinations: [],
      queue: memoryQueue(),
      ingest: { prefix: 'v2' },
      admin: { token: 'other' },
    });
    await expect(startApi(cleanUp, createAdapter(), { metadata: { imports: [second] } })).rejects.toThrow(
      'admin must be set in only one module of the application',
    );
  });
});
