export type { DeletionRequest } from './admin/deletion.request.js';
export type { DeletionResult } from './admin/user.deletion.js';
export type { DeliveryEvent } from './dispatch/delivery.event.js';
export type { TransportOption } from './dispatch/transport.option.js';
export type { RetryOn } from './dispatch/url.outcome.js';
export type { WebhookRequest, WebhookResponse, WebhookTransport } from './dispatch/webhook-transport.interface.js';
export type { AcceptResult, RejectedMessage } from './ingest/ingest.result.js';
export type { AdminOptions } from './options/admin.options.js';
export type { DeliveryOptions } from './options/delivery.options.js';
export type { DestinationOptions } from './options/destination.options.js';
export type { IngestOptions } from './options/ingest.options.js';
export type { SourceOptions } from './options/source.options.js';
export type { RelayMode, WebhookDestinationModuleOptions } from './options/webhook-destination.options.js';
export type { AttemptRecord, OutcomeClass, UrlResult } from './queue/attempt.record.js';
export type {
  Delivery,
  DeliveryCount,
  DeliveryOutcome,
  DeliveryPage,
  DeliveryQuery,
  DeliveryQueue,
  DeliveryQueueFactory,
  DeliveryRecord,
  DeliveryState,
  Lease,
  NewDelivery,
} from './queue/delivery-queue.interface.js';
export { memoryQueue, type MemoryQueueOptions } from './queue/memory/memory.queue.js';
export { QueueFullError } from './queue/queue-full.error.js';
export type { RetentionBound, RetentionOptions } from './queue/retention.options.js';
export { sqliteQueue, type SqliteQueueOptions } from './queue/sqlite/sqlite.queue.js';
export {
  type StandardWebhookOptions,
  verifyStandardWebhook,
  type WebhookRequestHeaders,
} from './receiver/standard-webhook.util.js';
export { signBody, verifySignature } from './receiver/signature.util.js';
export { WEBHOOK_SECRET, WebhookSignatureGuard } from './receiver/webhook-signature.guard.js';
export { WebhookDestinationModule } from './webhook-destination.module.js';
export type { WebhookDestinationModuleAsyncOptions } from './webhook-destination.module-definition.js';
export { WebhookDestinationService } from './webhook-destination.service.js';
