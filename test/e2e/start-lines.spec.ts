import { Test } from '@nestjs/testing';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { memoryQueue, WebhookDestinationModule, type WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { LogLines } from '../support/relay.js';

describe.each(platforms)('The lines of the start on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  /** Starts an application; returns what it has logged, and the paths of its OpenAPI document before and after. */
  async function start(options: Partial<WebhookDestinationModuleOptions>, globalPrefix = '') {
    const log = new LogLines();
    const relay = WebhookDestinationModule.forRoot({ sources: [], destinations: [], queue: memoryQueue(), ...options });
    const testing = await Test.createTestingModule({ imports: [relay] }).compile();
    const app = testing.createNestApplication(createAdapter(), { logger: log });
    afterwards(() => app.close());
    if (globalPrefix) app.setGlobalPrefix(globalPrefix);
    const paths = () => Object.keys(SwaggerModule.createDocument(app, new DocumentBuilder().build()).paths);
    const before = paths();
    await app.init();
    return { routes: log.matching(/Mapped|Routes:/), before, after: paths() };
  }

  it('have one for all routes of the relay, which its OpenAPI document lists before and after', async () => {
    const { routes, before, after } = await start({ admin: { token: 'the-token-of-the-operator' } });
    expect(routes).toEqual(['log Routes: events at /v1, deletion at /v1/delete, dashboard and admin API at /relay']);
    expect(before).toEqual(expect.arrayContaining(['/v1/track', '/v1/delete', '/relay/api/overview']));
    expect(after).toEqual(before);
  });

  it('name only what there is', async () => {
    expect((await start({})).routes).toEqual(['log Routes: events at /v1']);
    const { routes } = await start({ ingest: false, admin: { token: 'the-token-of-the-operator' } });
    expect(routes).toEqual(['log Routes: deletion at /v1/delete, dashboard and admin API at /relay']);
    expect((await start({ ingest: false })).routes).toEqual([]);
  });

  it('name the routes of ingest and deletion below a global prefix, which are ordinary ones of the application', async () => {
    const { routes, before, after } = await start({ admin: { token: 'the-token-of-the-operator' } }, 'api');
    const mapped = routes.filter((line) => line.includes('Mapped'));
    expect(mapped).toHaveLength(17);
    expect(mapped.join('\n')).not.toContain('/relay');
    expect(after).toEqual(before);
  });
});
