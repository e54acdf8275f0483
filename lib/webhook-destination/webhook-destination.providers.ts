import type { DynamicModule, Provider } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';

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
} from './options/webhook-destination.options.js';
import type { DeliveryQueue } from './queue/delivery-queue.interface.js';
import { RetentionSweeper } from './queue/retention.sweeper.js';
import { DestinationRouter } from './routing/destination.router.js';
import { WebhookDestinationService } from './webhook-destination.service.js';
import { CHECKED_OPTIONS, CONTROLLERS_PLACED, DELIVERY_QUEUE, MODULE_OPTIONS } from './webhook-destination.tokens.js';

/** A message's way, step by step: source, rules, routing, queue, dispatch. */
export const webhookDestinationProviders: Provider[] = [
  {
    provide: CHECKED_OPTIONS,
    useFactory: (options: WebhookDestinationModuleOptions) => checkOptions(options),
    inject: [MODULE_OPTIONS],
  },
  {
    provide: SourceRegistry,
    useFactory: ({ sources }: WebhookDestinationOptions) => new SourceRegistry(sources),
    inject: [CHECKED_OPTIONS],
  },
  {
    provide: IngestEndpoint,
    useFactory: (sources: SourceRegistry, acceptor: MessageAcceptor, { ingest, mode }: WebhookDestinationOptions) =>
      ingest && mode !== 'deliver' ? new IngestEndpoint(sources, acceptor, ingest) : undefined,
    inject: [SourceRegistry, MessageAcceptor, CHECKED_OPTIONS],
  },
  {
    provide: DeletionEndpoint,
    useFactory: (deletion: UserDeletion, { admin }: WebhookDestinationOptions) =>
      admin && new DeletionEndpoint(deletion),
    inject: [UserDeletion, CHECKED_OPTIONS],
  },
  {
    provide: MessageAcceptor,
    useFactory: (router: DestinationRouter, queue: DeliveryQueue) => new MessageAcceptor(router, queue),
    inject: [DestinationRouter, DELIVERY_QUEUE],
  },
  {
    provide: DestinationRouter,
    useFactory: ({ destinations }: WebhookDestinationOptions) => new DestinationRouter(destinations),
    inject: [CHECKED_OPTIONS],
  },
  {
    provide: DELIVERY_QUEUE,
    useFactory: ({ queue }: WebhookDestinationOptions) => queue(),
    inject: [CHECKED_OPTIONS],
  },
  {
    provide: RetentionSweeper,
    useFactory: (queue: DeliveryQueue, { mode }: WebhookDestinationOptions, modules: ModulesContainer) =>
      mode === 'ingest' ? undefined : new RetentionSweeper(queue, modules),
    inject: [DELIVERY_QUEUE, CHECKED_OPTIONS, ModulesContainer],
  },
  {
    provide: WebhookDispatcher,
    useFactory: (queue: DeliveryQueue, options: WebhookDestinationOptions) => new WebhookDispatcher(queue, options),
    inject: [DELIVERY_QUEUE, CHECKED_OPTIONS],
  },
  {
    provide: UserDeletion,
    useFactory: ({ sources }: WebhookDestinationOptions, router: DestinationRouter, queue: DeliveryQueue) =>
      new UserDeletion(
        sources.map(({ name }) => name),
        router,
        queue,
      ),
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
    useFactory: async (options: WebhookDestinationOptions) => {
      if (options.ingest && options.mode !== 'deliver') await placeIngestController(ingest, options.ingest.prefix);
      const prefix = adminPrefix(options);
      if (prefix !== undefined) await placeAdminController(admin, prefix);
    },
    inject: [CHECKED_OPTIONS],
  };
  return { ...module, controllers: [ingest, admin], providers: [...(module.providers ?? []), placed] };
}
