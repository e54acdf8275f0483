import { isPlainObject } from '../../../client/message/message.rules.js';
import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import { withoutAnswers } from '../../queue/kept-answers.util.js';
import type { Acceptance } from '../../ingest/ingest.result.js';

/** Kinds of live events. */
export const LIVE_KINDS = ['message', 'rejected', 'delivered', 'retry', 'dead'] as const;

export type LiveKind = (typeof LIVE_KINDS)[number];

/** An accepted or rejected message, or the outcome of an attempt. */
export interface LiveEvent {
  kind: LiveKind;
  /** Time of the event, in ms since the epoch. */
  at: number;
  source: string;
  messageId?: string;
  /** For a message: its type, event and user, and the destinations it is routed to. */
  type?: string;
  event?: string;
  userId?: string;
  destinations?: string[];
  /** For an outcome: its destination, with other fields of `DeliveryEvent`. */
  destination?: string;
  [field: string]: unknown;
}

/** Names of the filters, which are fields of the event that must match exactly. */
export const LIVE_FILTERS = ['kind', 'source', 'destination', 'messageId', 'type', 'event', 'userId'] as const;

export type LiveFilter = Partial<Record<(typeof LIVE_FILTERS)[number], string>>;

/** Converts an acceptance to live events. */
export function toMessageEvents({ source, messages, rejected, destinationsOf }: Acceptance, at: number): LiveEvent[] {
  const accepted = messages.map((message): LiveEvent => {
    const { messageId, type, event, userId } = message;
    const destinations = destinationsOf(message);
    return { kind: 'message', at, source, messageId, type, event, userId, destinations };
  });
  return [...accepted, ...rejected.map((fault): LiveEvent => ({ kind: 'rejected', at, source, ...fault }))];
}

/** Converts an outcome to a live event, without answers: live events go to other processes, and have no bodies. */
export function toOutcomeEvent({ type, ...event }: DeliveryEvent, at: number): LiveEvent {
  return { kind: type, at, ...withoutAnswers(event) };
}

/** Whether a value is a live event of this version: other processes may run another version. */
export function isLiveEvent(value: unknown): value is LiveEvent {
  if (!isPlainObject(value)) return false;
  const { kind, at, source, destinations } = value;
  return (
    LIVE_KINDS.includes(kind as LiveKind) &&
    Number.isFinite(at) &&
    typeof source === 'string' &&
    (destinations === undefined || Array.isArray(destinations))
  );
}

/** Whether an event passes a filter. A message passes for each destination it is routed to. */
export function passes(event: LiveEvent, filter: LiveFilter): boolean {
  return Object.entries(filter).every(([field, value]) =>
    field === 'destination' && event.destinations ? event.destinations.includes(value) : event[field] === value,
  );
}
