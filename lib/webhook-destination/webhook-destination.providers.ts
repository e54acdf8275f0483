import type { DynamicModule, Provider } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';

import { modulesOf } from '../common/application-modules.util.js';
import { Concealed } from '../common/concealed.value.js';
import { toOptions } from '../common/options.rules.js';
import { AdminGate } from './admin/admin.gate.js';
import { createAddressReader } from './http/client-address.js';
import { IN_PROCESS_INGEST } from './ingest/in-process-ingest.interface.js';
import { RetentionSweeper } from './queue/retention.sweeper.js';
import { RelayHealth } from './observe/relay-health.js';
import { RelayLifecycle } from './relay.lifecycle.js';
import { RelaySteps } from './relay-steps.js';
import type { RouteController } from './http/route.controller.js';
import { createRelayController, placeRelayController } from './webhook-destination.controller.js';
import { VisibilityOptions, type WebhookDestinationModuleExtras } from './visibility.options.js';
import {
  checkOptions,
  type WebhookDestinationModuleOptions,
  type WebhookDestinationOptions,
} from './webhook-destination.options.js';
import { WebhookDestinationService } from './webhook-destination.service.js';
import { CHECKED_OPTIONS, MODULE_OPTIONS, PLACED_STEPS, RELAY_HEALTH } from './webhook-destination.tokens.js';

type CheckedOptions = Concealed<WebhookDestinationOptions>;

const relayProviders: Provider[] = [
  RelaySteps,
  {
    provide: RetentionSweeper,
    useFactory: ({ queue, countSurplus }: RelaySteps, options: CheckedOptions, moduleRef: ModuleRef) =>
      options.reveal().mode === 'ingest' ? undefined : new RetentionSweeper(queue, modulesOf(moduleRef), countSurplus),
    inject: [RelaySteps, CHECKED_OPTIONS, ModuleRef],
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

function provideOptions(visibility: VisibilityOptions): Provider {
  return {
    provide: CHECKED_OPTIONS,
    useFactory: (options: Concealed<WebhookDestinationModuleOptions>): CheckedOptions =>
      new Concealed(checkOptions(options.reveal(), visibility)),
    inject: [MODULE_OPTIONS],
  };
}

/** Loads the admin API and the portal, and adds the routes of the module's controller once the options are known. */
function placeRoutes(controller: RouteController): Provider {
  return {
    provide: PLACED_STEPS,
    useFactory: async (
      steps: RelaySteps,
      service: WebhookDestinationService,
      options: CheckedOptions,
      host: HttpAdapterHost,
    ) => {
      const { admin, ingest, portal } = options.reveal();
      const addressOf = createAddressReader(ingest?.clientAddress);
      if (portal) {
        const { PortalApi } = await import('./portal/api/portal-api.js');
        steps.portal = new PortalApi(
          portal,
          steps.portalKeys!,
          steps.portalLinks!,
          steps.catalogue!,
          steps,
          addressOf,
          host,
        );
      }
      if (admin) {
        const { AdminApi } = await import('./admin/api/admin-api.js');
        const gate = new AdminGate(admin, addressOf, steps.audit, steps.queue);
        steps.api = new AdminApi(service, steps, host, gate);
      }
      await placeRelayController(controller, steps);
      return steps;
    },
    inject: [RelaySteps, WebhookDestinationService, CHECKED_OPTIONS, HttpAdapterHost],
  };
}

/** Adds the relay to a module that has its options. */
export function addRelay(module: DynamicModule, { isGlobal }: WebhookDestinationModuleExtras): DynamicModule {
  const visibility = toOptions(VisibilityOptions, { isGlobal });
  const controller = createRelayController();
  return {
    ...module,
    global: visibility.isGlobal,
    controllers: [controller],
    providers: [...(module.providers ?? []), provideOptions(visibility), ...relayProviders, placeRoutes(controller)],
    exports: [WebhookDestinationService],
  };
}
