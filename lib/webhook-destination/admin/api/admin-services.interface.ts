import type { Observable } from 'rxjs';

import type { Metric } from '../../../common/telemetry/metric.js';
import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import type { Acceptance, Refusal } from '../../ingest/ingest.result.js';
import type { AuditLog } from '../../observe/audit.log.js';
import type { QueueFigures } from '../../observe/queue.figures.js';
import type { PortalLinks } from '../../portal/portal.links.js';
import type { DeliveryPage, DeliveryQuery, DeliveryRecord } from '../../queue/delivery.interface.js';
import type { DeliveryQueue } from '../../queue/delivery.queue.js';
import type { ResubmissionRequest, ResubmissionResult } from '../../queue/kept-refusals.js';
import type { DestinationManager } from '../../registry/destination.manager.js';
import type { EntryOrigin } from '../../registry/registry-entry.interface.js';
import type { SourceManager } from '../../registry/source.manager.js';
import type { ActivityLog } from '../activity/activity.log.js';
import type { DeletionReceipts } from '../activity/deletion-receipts.js';
import type { UserDeletion } from '../user-deletion.js';

/** Operations of `WebhookDestinationService` that the API uses. */
export interface AdminRelay {
  readonly destinations: DestinationManager;
  readonly sources: SourceManager;
  readonly events$: Observable<DeliveryEvent>;
  deliveries(query: DeliveryQuery, page?: DeliveryPage): Promise<DeliveryRecord[]>;
  replay(idOrQuery: string | DeliveryQuery): Promise<number>;
  explain(message: unknown, source?: string): Promise<object>;
  /** Number of events that in-process recording lost before ingest. */
  readonly lostCount: number;
}

/** The steps of this process, as far as the API uses them. */
export interface AdminProcess {
  /** Path prefix of `POST /<prefix>/delete`. */
  readonly prefix: string;
  readonly acceptor: { readonly accepted$: Observable<Acceptance> };
  readonly ingest: { readonly refused$: Observable<Refusal> } | undefined;
  readonly queue: Pick<DeliveryQueue, 'series' | 'refusals' | 'peers' | 'searched' | 'searches'>;
  readonly figures: QueueFigures;
  readonly registry: { readonly origin: EntryOrigin };
  readonly dispatcher: { readonly downNames: string[]; heldUntil(name: string): number | undefined };
  readonly deletion: Pick<UserDeletion, 'preview' | 'request'>;
  readonly resubmission: { run(request: ResubmissionRequest): Promise<ResubmissionResult> };
  readonly explainer: { explainDelivery(record: DeliveryRecord): Promise<object> };
  readonly metrics: readonly Metric[];
  /** Undefined without the option `portal`. */
  readonly portalLinks: Pick<PortalLinks, 'link'> | undefined;
  readonly audit: AuditLog;
  readonly activity: Pick<ActivityLog, 'search' | 'find'>;
  readonly receipts: Pick<DeletionReceipts, 'read'>;
}
