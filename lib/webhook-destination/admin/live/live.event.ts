import { isPlainObject } from '../../../client/message/message.rules.js';
import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import { withoutAnswers } from '../../queue/kept-answers.util.js';
import type { Acceptance } from '../../ingest/ingest.result.js';

/** Kinds of live events. */
export const LIVE_KINDS = ['message', 'duplicate', 'rejected', 'delivered', 'retry', 'dead'] as const;

export type LiveKind = (typeof LIVE_KINDS)[number];

/** An accepted, repeated or rejected message, or the outcome of an attempt. */
export interface LiveEvent {
  kind: LiveKind;
  /** Time of the event, in ms since the epoch. */
  at: number;
  source: string;
  messageId?: string;
  /** For an accepted or repeated message: its type, event and user, and the destinations it is sent to. */
  type?: string;
  event?: string;
  userId?: string;
  destinations?: string[];
  /** For such a message: destinations that it is not sent again to; absent if there are none. */
  repeated?: string[];
  /** For an outcome: its destination, with other fields of `DeliveryEvent`. */
  destination?: string;
  [field: string]: unknown;
}

/** Names of the filters, which are fields of the event that must match exactly. */
export const LIVE_FILTERS = ['kind', 'source', 'destination', 'messageId', 'type', 'event', 'userId'] as const;

export type LiveFilter = Partial<Record<(typeof LIVE_FILTERS)[number], string>>;

/** Converts an acceptance to live events. */
export function toMessageEvents(acceptance: Acceptance, at: number): LiveEvent[] {
  const { source, messages, duplicates, rejected, destinationsOf } = acceptance;
  const toEvent = (kind: LiveKind) => (message: Acceptance['messages'][number]) => {
    const { messageId, type, event, userId } = message;
    const { destinations, repeated } = destinationsOf(message);
    const live: LiveEvent = { kind, at, source, messageId, type, event, userId, destinations };
    return repeated.length === 0 ? live : { ...live, repeated };
  };
  const accepted = [...messages.map(toEvent('message')), ...duplicates.map(toEvent('duplicate'))];
  return [...accepted, ...rejected.map((fault): LiveEvent => ({ kind: 'rejected', at, source, ...fault }))];
}

/** Converts an outcome to a live event, without answers: live events go to other processes, and have no bodies. */
export function toOutcomeEvent({ type, ...event }: DeliveryEvent, at: number): LiveEvent {
  return { kind: type, at, ...withoutAnswers(event) };
}

/** Whether a value is a live event of this version: other processes may run another version. */
export function isLiveEvent(value: unknown): value is LiveEvent {
  if (!isPlainObject(value)) return false;
  const { kind, at, source, destinations, repeated } = value;
  return (
    LIVE_KINDS.includes(kind as LiveKind) &&
    Number.isFinite(at) &&
    typeof source === 'string' &&
    [destinations, repeated].every((names) => names === undefined || Array.isArray(names))
  );
}

/** Whether an event passes a filter. A message passes for each destination it is routed to, be it a repeated one. */
export function passes(event: LiveEvent, filter: LiveFilter): boolean {
  const { destinations, repeated = [] } = event;
  return Object.entries(filter).every(([field, value]) =>
    field === 'destination' && destinations
      ? destinations.includes(value) || repeated.includes(value)
      : event[field] === value,
  );
}
