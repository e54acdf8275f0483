import type { DynamicModule, Provider } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';

import { Concealed } from '../common/concealed.value.js';
import { IN_PROCESS_INGEST } from './ingest/in-process-ingest.interface.js';
import { RetentionSweeper } from './queue/retention.sweeper.js';
import { RelaySteps } from './relay-steps.js';
import { createRelayController, placeRelayController } from './webhook-destination.controller.js';
import {
  checkOptions,
  type WebhookDestinationModuleOptions,
  type WebhookDestinationOptions,
} from './webhook-destination.options.js';
import { WebhookDestinationService } from './webhook-destination.service.js';
import { CHECKED_OPTIONS, CONTROLLER_PLACED, MODULE_OPTIONS } from './webhook-destination.tokens.js';

type CheckedOptions = Concealed<WebhookDestinationOptions>;

/** What Nest injects, and whose lifecycle hooks it calls. */
export const webhookDestinationProviders: Provider[] = [
  {
    provide: CHECKED_OPTIONS,
    useFactory: (options: Concealed<WebhookDestinationModuleOptions>): CheckedOptions =>
      new Concealed(checkOptions(options.reveal())),
    inject: [MODULE_OPTIONS],
  },
  {
    provide: RelaySteps,
    useFactory: (options: CheckedOptions, host: HttpAdapterHost) => new RelaySteps(options, host),
    inject: [CHECKED_OPTIONS, HttpAdapterHost],
  },
  {
    provide: RetentionSweeper,
    useFactory: ({ queue }: RelaySteps, options: CheckedOptions, modules: ModulesContainer) =>
      options.reveal().mode === 'ingest' ? undefined : new RetentionSweeper(queue, modules),
    inject: [RelaySteps, CHECKED_OPTIONS, ModulesContainer],
  },
  WebhookDestinationService,
  { provide: IN_PROCESS_INGEST, useExisting: WebhookDestinationService },
];

/** Adds the controller of one module, which finds its place once the options are known. */
export function withController(module: DynamicModule): DynamicModule {
  const controller = createRelayController();
  const placed: Provider = {
    provide: CONTROLLER_PLACED,
    useFactory: (steps: RelaySteps) => placeRelayController(controller, steps),
    inject: [RelaySteps],
  };
  return { ...module, controllers: [controller], providers: [...(module.providers ?? []), placed] };
}
