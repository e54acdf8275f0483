import { describe, expect, it } from '@jest/globals';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { post } from '../support/post.js';
import { startRelayApp } from '../support/relay.app.js';

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

  it('knows no routes where ingest is off', async () => {
    const { app, host } = await startRelayApp(afterwards, createAdapter(), { options: { ingest: false } });
    expect(SwaggerModule.createDocument(app, new DocumentBuilder().build()).paths).toEqual({});
    expect((await post(`${host}/track`, message)).status).toBe(404);
  });
});
