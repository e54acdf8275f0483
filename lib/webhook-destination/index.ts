export type {
  AdminAccess,
  AdminCaller,
  AdminGuardOptions,
  AdminNamedToken,
  AdminNamedTokensOptions,
  AdminOptions,
  AdminSessionOptions,
  AdminTokenOptions,
} from './admin/admin.options.js';
export type { AuditEntry } from './observe/audit.log.js';
export type { DeletionRequest, DeletionResult } from './admin/user-deletion.js';
export type { BodyTransform, TransformedMessage } from './dispatch/body-transform.js';
export type { DeliveryEvent } from './dispatch/delivery-event.js';
export type { DeliveryOptions } from './dispatch/delivery.options.js';
export type { DestinationOptions } from './dispatch/destination.options.js';
export type { DestinationRateLimit } from './dispatch/request-limit.js';
export type { RetryOn } from './dispatch/outcome.util.js';
export type { Disablement } from './dispatch/pause.util.js';
export type {
  TransportOption,
  WebhookRequest,
  WebhookResponse,
  WebhookTransport,
} from './transport/webhook-transport.interface.js';
export type { PortalEvent } from './portal/catalogue.options.js';
export type { CorsOptions, IngestOptions, RateLimitOptions } from './ingest/ingest.options.js';
export type { AcceptResult, RejectedMessage } from './ingest/ingest.result.js';
export type { SourceOptions } from './ingest/source.options.js';
export type { RequestPreview } from './dispatch/request-preview.util.js';
export type { DestinationExplanation, Explanation } from './message.explainer.js';
export type { PortalLink, PortalLinkOptions, PortalLinks } from './portal/portal.links.js';
export type { PortalBrand, PortalLimits, PortalOptions } from './portal/portal.options.js';
export type { PortalAccess } from './portal/portal.token.js';
export type { EndpointChange, OperationalEvent } from './portal/operational-event.js';
export type { AttemptRecord, KeptAnswer, OutcomeClass, UrlResult } from './queue/attempt-record.interface.js';
export type {
  Delivery,
  DeliveryCount,
  DeliveryOutcome,
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryState,
  KeptSince,
  Lease,
  NewDelivery,
  OldestDelivery,
  QueueCondition,
  SweptRecords,
} from './queue/delivery.interface.js';
export type { DeadReason } from './queue/dead-reasons.js';
export { DeliveryQueue, type DeliveryQueueFactory } from './queue/delivery.queue.js';
export type { CheckedSearch, DeliveryPortion, DeliverySearch } from './queue/delivery-search.js';
export type { RouteReason } from './routing/destination.router.js';
export { memoryQueue, type MemoryQueueOptions } from '../stores/memory/memory.queue.js';
export type { CheckedPage, CheckedQuery } from './queue/query.util.js';
export type { DeliveredBound, Retention, RetentionBound, RetentionOptions } from './queue/retention.options.js';
export type { SearchedFields, SearchedValue } from './queue/searched-fields.js';
export type { PeerChannel } from './queue/peer-channel.interface.js';
export type {
  Claim,
  ClaimLimit,
  DeliveryStore,
  Insertion,
  MessageKey,
  Settlement,
  StoreBatch,
  StoreOwner,
  TransactionStore,
  WrittenDeliveries,
} from './queue/store/delivery-store.interface.js';
export type { RecordKind, RegistryRecord, RegistryStore } from './queue/registry-store.interface.js';
export type { KeptLog, LogRecord, LogStore, WholeLogRecord } from './queue/log-store.interface.js';
export type { SeriesRecord, SeriesStore } from './queue/series-store.interface.js';
export { sqliteQueue, type SqliteQueueOptions } from '../stores/sqlite/sqlite.queue.js';
export {
  type StandardWebhookOptions,
  verifyStandardWebhook,
  type WebhookRequestHeaders,
} from './receiver/standard-webhook.util.js';
export { signBody, verifySignature } from './receiver/signature.util.js';
export { publicKeyOf } from './receiver/webhook-secret.rules.js';
export { WEBHOOK_SECRET, WebhookSignatureGuard } from './receiver/webhook-signature.guard.js';
export type {
  DestinationRegistry,
  DestinationRegistryProvider,
  GivenDestination,
  RegistryChange,
  RegistryOption,
} from './registry/destination-registry.interface.js';
export type {
  DestinationManager,
  DestinationPatch,
  ImportResult,
  NewDestination,
} from './registry/destination.manager.js';
export type {
  CreatedDestination,
  CreatedSource,
  DestinationEntry,
  EntryOrigin,
  EntryQuery,
  SourceEntry,
} from './registry/registry-entry.interface.js';
export type { NewSource, SourceManager, SourcePatch } from './registry/source.manager.js';
export type { SearchOptions } from './search.options.js';
export type { WebhookDestinationModuleExtras } from './visibility.options.js';
export { WebhookDestinationModule } from './webhook-destination.module.js';
export type { WebhookDestinationModuleAsyncOptions } from './webhook-destination.module-definition.js';
export type { RelayMode, WebhookDestinationModuleOptions } from './webhook-destination.options.js';
export { type AcceptOptions, WebhookDestinationService } from './webhook-destination.service.js';
