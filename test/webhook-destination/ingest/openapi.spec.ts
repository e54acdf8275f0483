import { Controller, Post } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { startRelayApp } from '../../support/relay.app.js';

const message = { userId: 'u1', event: 'Order Completed' };

describe.each(platforms)('Nest on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('knows the routes: they are in the OpenAPI document, under the global prefix, and work there', async () => {
    const { app, host, receiver } = await startRelayApp(afterwards, createAdapter(), {
      options: { ingest: { prefix: 'collect' } },
      prepare: (nest) => nest.setGlobalPrefix('api'),
    });
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    expect(Object.keys(paths)).toEqual(
      ['batch', 'import', 'b', 'm', 'identify', 'i', 'track', 't', 'page', 'p', 'screen', 's', 'group', 'g']
        .concat(['alias', 'a'])
        .map((path) => `/api/collect/${path}`),
    );
    const ids = Object.values(paths).map(({ post: operation }) => operation!.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const { requestBody, responses, tags } = paths['/api/collect/track']!.post!;
    expect(requestBody).toMatchObject({
      content: { 'application/json': { schema: { required: ['event'], properties: { event: { type: 'string' } } } } },
    });
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '400', '401', '413', '429', '503']));
    expect(tags).toEqual(['analytics']);

    for (const prefix of ['collect', 'api/collect']) {
      const answer = await post(`${host}/${prefix}/track`, message);
      expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
    }
    await receiver.received(2);
  });

  it('knows the admin route where there is one: in the document, under the global prefix, and it works there', async () => {
    const { app, host, receiver } = await startRelayApp(afterwards, createAdapter(), {
      options: { ingest: false, admin: { token: 'admin-token' } },
      prepare: (nest) => nest.setGlobalPrefix('api'),
    });
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    expect(Object.keys(paths).filter((path) => !path.startsWith('/api/relay/'))).toEqual(['/api/v1/delete']);
    const { responses, tags, security } = paths['/api/v1/delete']!.post!;
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '503']));
    expect([tags, security]).toEqual([['analytics'], [{ bearer: [] }]]);

    for (const prefix of ['v1', 'api/v1']) {
      const ask = (token: string) =>
        fetch(`${host}/${prefix}/delete`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
          body: '{"userId":"u1"}',
        });
      expect((await ask('wrong')).status).toBe(401);
      expect((await ask('admin-token')).status).toBe(200);
    }
    await receiver.received(2);
  });

  it('leaves the paths of routes that it does not add to the application', async () => {
    @Controller()
    class Own {
      @Post(['track', 'delete'])
      take() {
        return 'own';
      }
    }
    const { app, host } = await startRelayApp(afterwards, createAdapter(), {
      options: { ingest: false },
      metadata: { controllers: [Own] },
    });
    for (const path of ['track', 'delete']) {
      expect(await (await post(`${host}/${path}`, message)).text()).toBe('own');
    }
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    expect(Object.keys(paths)).toEqual(['/track', '/delete']);
  });

  it('knows no routes where ingest is off', async () => {
    const { app, host } = await startRelayApp(afterwards, createAdapter(), { options: { ingest: false } });
    expect(SwaggerModule.createDocument(app, new DocumentBuilder().build()).paths).toEqual({});
    expect((await post(`${host}/track`, message)).status).toBe(404);
  });
});
