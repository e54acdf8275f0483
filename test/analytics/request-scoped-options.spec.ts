import { type DynamicModule, Global, Injectable, Module, Scope } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AnalyticsModule, memoryQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { LogLines } from '../support/relay.js';

@Injectable({ scope: Scope.REQUEST })
class Tenant {
  key = 'wk_shop';
}

@Injectable()
class Config {
  constructor(readonly tenant: Tenant) {}
}

@Global()
@Module({ providers: [Tenant, Config], exports: [Tenant, Config] })
class TenantModule {}

const relay = (options: Pick<Parameters<typeof WebhookDestinationModule.forRootAsync>[0], 'inject'>) =>
  WebhookDestinationModule.forRootAsync({
    ...options,
    useFactory: () => ({ sources: [{ name: 'shop', writeKey: 'k' }], destinations: [], queue: memoryQueue() }),
  });

const cases: [string, string, DynamicModule][] = [
  [
    'AnalyticsModule',
    'directly',
    AnalyticsModule.forRootAsync({ inject: [Tenant], useFactory: () => ({ writeKey: 'k' }) }),
  ],
  [
    'AnalyticsModule',
    'indirectly',
    AnalyticsModule.forRootAsync({ inject: [Config], useFactory: () => ({ writeKey: 'k' }) }),
  ],
  ['WebhookDestinationModule', 'directly', relay({ inject: [Tenant] })],
  ['WebhookDestinationModule', 'indirectly', relay({ inject: [Config] })],
];

describe('The application does not start', () => {
  it.each(cases)('if the options of %s depend %s on a request-scoped provider', async (name, _how, module) => {
    const testing = await Test.createTestingModule({ imports: [TenantModule, module] })
      .setLogger(new LogLines())
      .compile();
    const app = testing.createNestApplication();
    await expect(app.init()).rejects.toMatchObject({
      name: 'OptionsError',
      message: expect.stringMatching(
        new RegExp(`^${name}.*must have options that are the same for every request, but they depend on Tenant,`),
      ),
    });
    await app.close();
  });
});
