import type { ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AnalyticsModule, type AnalyticsModuleOptions, AnalyticsService, type Message } from 'nestjs-analytics-relay';

import type { Afterwards } from '../../support/clean-ups.js';
import { LogLines } from '../../support/relay.js';

/** What a test sets beside the provider. */
export interface RecordedProviderOptions extends ModuleMetadata {
  options?: Partial<AnalyticsModuleOptions>;
}

/** A provider in an application without HTTP, and what its decorators record. */
export async function startProvider<T>(
  afterwards: Afterwards,
  provider: Type<T>,
  { options, imports = [], providers = [] }: RecordedProviderOptions = {},
) {
  const log = new LogLines();
  const app = await Test.createTestingModule({
    imports: [AnalyticsModule.forRoot({ writeKey: 'k', disable: true, ...options }), ...imports],
    providers: [provider, ...providers],
  })
    .setLogger(log)
    .compile();
  app.useLogger(log);
  await app.init();
  afterwards(() => app.close());
  const analytics = app.get(AnalyticsService);
  const messages: Message[] = [];
  for (const type of ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const) {
    analytics.on(type, (ctx) => messages.push(JSON.parse(ctx.serialize()) as Message));
  }
  return {
    app,
    log,
    analytics,
    target: app.get(provider),
    /** What has been recorded so far, in the order of recording. */
    events: async () => {
      await analytics.flush();
      return messages;
    },
  };
}
