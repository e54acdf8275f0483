import { ConfigurableModuleBuilder } from '@nestjs/common';

import type { WebhookDestinationModuleExtras } from './visibility.options.js';
import type { WebhookDestinationModuleOptions } from './webhook-destination.options.js';
import { addRelay } from './webhook-destination.providers.js';
import { MODULE_OPTIONS } from './webhook-destination.tokens.js';

const definition = new ConfigurableModuleBuilder<WebhookDestinationModuleOptions>({
  optionsInjectionToken: MODULE_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setExtras<WebhookDestinationModuleExtras>({ isGlobal: undefined }, addRelay)
  .build();

/** The base class that gives the module `forRoot` and `forRootAsync`. */
export const WebhookDestinationModuleBase = definition.ConfigurableModuleClass;

/** Options of `WebhookDestinationModule.forRootAsync`: `useFactory`, `useClass` or `useExisting`, and `isGlobal`. */
export type WebhookDestinationModuleAsyncOptions = typeof definition.ASYNC_OPTIONS_TYPE;
