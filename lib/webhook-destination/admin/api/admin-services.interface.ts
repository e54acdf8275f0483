import type { Observable } from 'rxjs';

import type { Metric } from '../../../common/telemetry/metric.js';
import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import type { Refusal } from '../../ingest/ingest.endpoint.js';
import type { Acceptance } from '../../ingest/message.acceptor.js';
import type { DeliveryPage, DeliveryQuery, DeliveryRecord } from '../../queue/delivery-queue.interface.js';
import type { DeliveryPortion, DeliverySearch } from '../../queue/delivery-search.js';
import type { PeerChannel } from '../../queue/peer-channel.interface.js';
import type { QueueFigures } from '../../queue/queue.figures.js';
import type { SeriesStore } from '../../queue/series-store.interface.js';
import type { DestinationManager } from '../../registry/destination.manager.js';
import type { SourceManager } from '../../registry/source.manager.js';
import type { DeletionRequest } from '../deletion-request.js';
import type { DeletionResult } from '../user-deletion.js';

/** Operations of `WebhookDestinationService` that the API uses. */
export interface AdminRelay {
  readonly destinations: DestinationManager;
  readonly sources: SourceManager;
  readonly events$: Observable<DeliveryEvent>;
  deliveries(query: DeliveryQuery, page?: DeliveryPage): Promise<DeliveryRecord[]>;
  search(search: DeliverySearch, page?: DeliveryPage): Promise<DeliveryPortion>;
  replay(idOrQuery: string | DeliveryQuery): Promise<number>;
  requestDeletion(request: DeletionRequest): Promise<DeletionResult>;
  explain(message: unknown, source?: string): Promise<object>;
}

/** State and figures of this process. */
export interface AdminProcess {
  readonly accepted$: Observable<Acceptance>;
  /** Ingest requests that were refused as a whole. */
  readonly refused$: Observable<Refusal>;
  /** Store of the figures by the minute; undefined if the engine keeps none. */
  readonly series: SeriesStore | undefined;
  /** Channel to the processes that share the queue; undefined if the queue is not shared. */
  readonly peers: PeerChannel | undefined;
  readonly figures: QueueFigures;
  /** Names of the destinations that are down. */
  downNames(): string[];
  /** Number of events that in-process recording lost before ingest. */
  lostCount(): number;
  readonly metrics: readonly Metric[];
  /** Explains a queued message by the current options: its routing, and the request its own destination would get. */
  explainDelivery(record: DeliveryRecord): Promise<object>;
}
