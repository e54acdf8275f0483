import type { DynamicModule, Provider } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';

import { EMPTY } from 'rxjs';

import { Concealed } from '../common/concealed.value.js';
import type { AdminApi } from './admin/api/admin-api.js';
import type { AdminProcess } from './admin/api/admin-services.interface.js';
import { IN_PROCESS_INGEST } from './ingest/in-process-ingest.interface.js';
import { RetentionSweeper } from './queue/retention.sweeper.js';
import { RelayHealth } from './relay-health.js';
import { RelaySteps } from './relay-steps.js';
import { createRelayController, placeRelayController } from './webhook-destination.controller.js';
import {
  checkOptions,
  type WebhookDestinationModuleOptions,
  type WebhookDestinationOptions,
} from './webhook-destination.options.js';
import { WebhookDestinationService } from './webhook-destination.service.js';
import {
  ADMIN_API,
  CHECKED_OPTIONS,
  CONTROLLER_PLACED,
  MODULE_OPTIONS,
  RELAY_HEALTH,
} from './webhook-destination.tokens.js';

type CheckedOptions = Concealed<WebhookDestinationOptions>;

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
  { provide: ADMIN_API, useFactory: loadAdminApi, inject: [RelaySteps, WebhookDestinationService] },
  {
    provide: RELAY_HEALTH,
    useFactory: ({ queue, figures, dispatcher }: RelaySteps) =>
      new RelayHealth(queue, figures, () => dispatcher.downNames.length),
    inject: [RelaySteps],
  },
  { provide: IN_PROCESS_INGEST, useExisting: WebhookDestinationService },
];

/** Loads the admin API if the option `admin` is set. */
async function loadAdminApi(steps: RelaySteps, service: WebhookDestinationService): Promise<AdminApi | undefined> {
  const { gate, audit, acceptor, ingest, queue, figures, dispatcher, explainer, metrics } = steps;
  if (!gate) return undefined;
  const { AdminApi: Api } = await import('./admin/api/admin-api.js');
  const own: AdminProcess = {
    accepted$: acceptor.accepted$,
    refused$: ingest?.endpoint.refused$ ?? EMPTY,
    series: queue.series,
    peers: queue.peers,
    figures,
    downNames: () => dispatcher.downNames,
    lostCount: () => service.lostCount,
    metrics,
    explainDelivery: (record) => explainer.explainDelivery(record),
  };
  steps.api = new Api(service, own, gate, audit);
  return steps.api;
}

/** Adds the controller of one module. Its routes are added once the options are known. */
export function withController(module: DynamicModule): DynamicModule {
  const controller = createRelayController();
  const placed: Provider = {
    provide: CONTROLLER_PLACED,
    useFactory: (steps: RelaySteps) => placeRelayController(controller, steps),
    inject: [RelaySteps, ADMIN_API],
  };
  return { ...module, controllers: [controller], providers: [...(module.providers ?? []), placed] };
}
