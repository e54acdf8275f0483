import type { Disablement } from '../dispatch/pause.util.js';

/** What disables an endpoint; a pause by its tenant is no event of its life. */
export type DisablingReason = Exclude<Disablement['reason'], 'paused'>;

/** A change in the life of an endpoint. Times are in ms since the epoch. */
export type EndpointChange =
  | {
      type: 'endpoint.failing' | 'endpoint.recovered';
      /** Time of the first failure since the last success before it. */
      failingSince: number;
    }
  | {
      type: 'endpoint.disabled';
      reason: DisablingReason;
      /** As above; absent if the endpoint had not failed for a minute. */
      failingSince?: number | undefined;
    };

/** A delivery to an endpoint is dead after an attempt. */
interface ExhaustedDelivery {
  type: 'delivery.exhausted';
  /** Name of the message's source. */
  source: string;
  messageId: string;
  /** Number of attempts. */
  attempts: number;
  /** Why it is dead. */
  reason: string;
}

/**
 * What happens to the endpoints of tenants: one has failed for a minute, is disabled or takes messages again, or a
 * delivery to it is dead.
 * @see docs/portal.md, "Life of an endpoint"
 */
export type OperationalEvent = (EndpointChange | ExhaustedDelivery) & {
  /** The tenant that the endpoint belongs to. */
  tenant: string;
  /** Name of the endpoint. */
  destination: string;
  /** Time of the event, in ms since the epoch. */
  at: number;
};
