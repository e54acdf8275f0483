import type { DynamicModule, Provider } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';

import { Concealed } from '../common/concealed.value.js';
import { AdminGate } from './admin/admin.gate.js';
import { createAddressReader } from './ingest/client-address.js';
import { IN_PROCESS_INGEST } from './ingest/in-process-ingest.interface.js';
import { RetentionSweeper } from './queue/retention.sweeper.js';
import { RelayHealth } from './relay-health.js';
import { RelayLifecycle } from './relay.lifecycle.js';
import { RelaySteps } from './relay-steps.js';
import { createRelayController, placeRelayController } from './webhook-destination.controller.js';
import {
  checkOptions,
  type WebhookDestinationModuleOptions,
  type WebhookDestinationOptions,
} from './webhook-destination.options.js';
import { WebhookDestinationService } from './webhook-destination.service.js';
import { CHECKED_OPTIONS, CONTROLLER_PLACED, MODULE_OPTIONS, RELAY_HEALTH } from './webhook-destination.tokens.js';

type CheckedOptions = Concealed<WebhookDestinationOptions>;

export const webhookDestinationProviders: Provider[] = [
  {
    provide: CHECKED_OPTIONS,
    useFactory: (options: Concealed<WebhookDestinationModuleOptions>): CheckedOptions =>
      new Concealed(checkOptions(options.reveal())),
    inject: [MODULE_OPTIONS],
  },
  RelaySteps,
  {
    provide: RetentionSweeper,
    useFactory: ({ queue }: RelaySteps, options: CheckedOptions, modules: ModulesContainer) =>
      options.reveal().mode === 'ingest' ? undefined : new RetentionSweeper(queue, modules),
    inject: [RelaySteps, CHECKED_OPTIONS, ModulesContainer],
  },
  RelayLifecycle,
  WebhookDestinationService,
  {
    provide: RELAY_HEALTH,
    useFactory: ({ queue, figures, dispatcher }: RelaySteps) =>
      new RelayHealth(queue, figures, () => dispatcher.downNames.length),
    inject: [RelaySteps],
  },
  { provide: IN_PROCESS_INGEST, useExisting: WebhookDestinationService },
];

/** Adds the controller of one module. Its routes are added once the options are known and the admin API is loaded. */
export function withController(module: DynamicModule): DynamicModule {
  const controller = createRelayController();
  const placed: Provider = {
    provide: CONTROLLER_PLACED,
    useFactory: async (
      steps: RelaySteps,
      service: WebhookDestinationService,
      options: CheckedOptions,
      host: HttpAdapterHost,
    ) => {
      const { admin, ingest } = options.reveal();
      if (admin) {
        const { AdminApi } = await import('./admin/api/admin-api.js');
        const gate = new AdminGate(admin, createAddressReader(ingest?.clientAddress), steps.audit);
        steps.api = new AdminApi(service, steps, host, gate);
      }
      await placeRelayController(controller, steps);
    },
    inject: [RelaySteps, WebhookDestinationService, CHECKED_OPTIONS, HttpAdapterHost],
  };
  return { ...module, controllers: [controller], providers: [...(module.providers ?? []), placed] };
}
