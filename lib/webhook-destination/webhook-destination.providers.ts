import type { DynamicModule, Provider } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';

import { Concealed } from '../common/concealed.value.js';
import { createAdminController, placeAdminController } from './admin/admin.controller.js';
import { DeletionEndpoint } from './admin/deletion.endpoint.js';
import { UserDeletion } from './admin/user.deletion.js';
import { WebhookDispatcher } from './dispatch/webhook.dispatcher.js';
import { IN_PROCESS_INGEST } from './ingest/in-process-ingest.interface.js';
import { createIngestController, placeIngestController } from './ingest/ingest.controller.js';
import { IngestEndpoint } from './ingest/ingest.endpoint.js';
import { MessageAcceptor } from './ingest/message.acceptor.js';
import { SourceRegistry } from './ingest/source.registry.js';
import {
  adminPrefix,
  checkOptions,
  type WebhookDestinationModuleOptions,
  type WebhookDestinationOptions,
} from './webhook-destination.options.js';
import type { DeliveryQueue } from './queue/delivery-queue.interface.js';
import { RetentionSweeper } from './queue/retention.sweeper.js';
import { DestinationRouter } from './routing/destination.router.js';
import { WebhookDestinationService } from './webhook-destination.service.js';
import { CHECKED_OPTIONS, CONTROLLERS_PLACED, DELIVERY_QUEUE, MODULE_OPTIONS } from './webhook-destination.tokens.js';

type CheckedOptions = Concealed<WebhookDestinationOptions>;

/** A message's way, step by step: source, rules, routing, queue, dispatch. */
export const webhookDestinationProviders: Provider[] = [
  {
    provide: CHECKED_OPTIONS,
    useFactory: (options: Concealed<WebhookDestinationModuleOptions>): CheckedOptions =>
      new Concealed(checkOptions(options.reveal())),
    inject: [MODULE_OPTIONS],
  },
  {
    provide: SourceRegistry,
    useFactory: (options: CheckedOptions) => new SourceRegistry(options.reveal().sources),
    inject: [CHECKED_OPTIONS],
  },
  {
    provide: IngestEndpoint,
    useFactory: (sources: SourceRegistry, acceptor: MessageAcceptor, options: CheckedOptions) => {
      const { ingest, mode } = options.reveal();
      return ingest && mode !== 'deliver' ? new IngestEndpoint(sources, acceptor, ingest) : undefined;
    },
    inject: [SourceRegistry, MessageAcceptor, CHECKED_OPTIONS],
  },
  {
    provide: DeletionEndpoint,
    useFactory: (deletion: UserDeletion, options: CheckedOptions) =>
      options.reveal().admin && new DeletionEndpoint(deletion),
    inject: [UserDeletion, CHECKED_OPTIONS],
  },
  {
    provide: MessageAcceptor,
    useFactory: (router: DestinationRouter, queue: DeliveryQueue) => new MessageAcceptor(router, queue),
    inject: [DestinationRouter, DELIVERY_QUEUE],
  },
  {
    provide: DestinationRouter,
    useFactory: (options: CheckedOptions) => new DestinationRouter(options.reveal().destinations),
    inject: [CHECKED_OPTIONS],
  },
  {
    provide: DELIVERY_QUEUE,
    useFactory: (options: CheckedOptions) => options.reveal().queue(),
    inject: [CHECKED_OPTIONS],
  },
  {
    provide: RetentionSweeper,
    useFactory: (queue: DeliveryQueue, options: CheckedOptions, modules: ModulesContainer) =>
      options.reveal().mode === 'ingest' ? undefined : new RetentionSweeper(queue, modules),
    inject: [DELIVERY_QUEUE, CHECKED_OPTIONS, ModulesContainer],
  },
  {
    provide: WebhookDispatcher,
    useFactory: (queue: DeliveryQueue, options: CheckedOptions) => new WebhookDispatcher(queue, options),
    inject: [DELIVERY_QUEUE, CHECKED_OPTIONS],
  },
  {
    provide: UserDeletion,
    useFactory: (options: CheckedOptions, router: DestinationRouter, queue: DeliveryQueue) => {
      const names = options.reveal().sources.map(({ name }) => name);
      return new UserDeletion(names, router, queue);
    },
    inject: [CHECKED_OPTIONS, DestinationRouter, DELIVERY_QUEUE],
  },
  WebhookDestinationService,
  { provide: IN_PROCESS_INGEST, useExisting: WebhookDestinationService },
];

/** Adds the controllers of one module, which find their places once the options are known. */
export function withControllers(module: DynamicModule): DynamicModule {
  const ingest = createIngestController();
  const admin = createAdminController();
  const placed: Provider = {
    provide: CONTROLLERS_PLACED,
    useFactory: async (concealed: CheckedOptions) => {
      const options = concealed.reveal();
      if (options.ingest && options.mode !== 'deliver') await placeIngestController(ingest, options.ingest.prefix);
      const prefix = adminPrefix(options);
      if (prefix !== undefined) await placeAdminController(admin, prefix);
    },
    inject: [CHECKED_OPTIONS],
  };
  return { ...module, controllers: [ingest, admin], providers: [...(module.providers ?? []), placed] };
}
