import { setImmediate as nextTurn } from 'node:timers/promises';

import { parseJson } from '../../common/value.util.js';
import { classOfReason, DEAD_REASONS } from '../queue/dead-reasons.js';
import type { DeliveryRecord, DeliveryState } from '../queue/delivery.interface.js';
import { withoutAnswers } from '../queue/kept-answers.util.js';
import { type ShownAttempt, showAttempt } from './attempt.view.js';
import type { OpaqueIds } from './opaque-ids.js';

/** Deliveries converted without a pause: parsing ten bodies of the maximum size takes about 4 ms. */
const UNPAUSED = 10;

/** The states that a tenant sees, each with those of the queue. */
export const SHOWN_STATES = {
  waiting: ['queued', 'waiting'],
  active: ['delivering'],
  delivered: ['delivered'],
  dead: ['dead'],
} as const satisfies Record<string, readonly DeliveryState[]>;

export type ShownState = keyof typeof SHOWN_STATES;

/** A delivery as its tenant sees it in a list. */
export interface ShownDelivery {
  id: string;
  /** Id of its endpoint. */
  endpoint: string;
  messageId: string;
  /** Type of the message; `delete` for a deletion notice. */
  type?: string | undefined;
  event?: string | undefined;
  state: ShownState;
  acceptedAt: number;
  /** Number of attempts. */
  attempts: number;
  lastAttempt?: ShownAttempt | undefined;
  nextAttemptAt?: number | undefined;
  /** Class of the reason of a dead delivery. */
  reason?: string | undefined;
}

/** A delivery as its tenant sees it alone. */
export interface ShownWholeDelivery extends Omit<ShownDelivery, 'attempts' | 'lastAttempt'> {
  attempts: ShownAttempt[];
  /** The JSON that is sent. */
  body: string;
  givesUpAt?: number | undefined;
}

/** Converts deliveries for a list, with pauses for other work. */
export async function showDeliveries(
  records: DeliveryRecord[],
  tenant: string,
  ids: OpaqueIds,
): Promise<ShownDelivery[]> {
  const shown: ShownDelivery[] = [];
  for (const record of records) {
    if (shown.length % UNPAUSED === UNPAUSED - 1) await nextTurn();
    const { attempts } = record;
    const last = attempts.at(-1);
    const lastAttempt = last && showAttempt(withoutAnswers(last));
    shown.push({ ...headOf(record, tenant, ids), attempts: attempts.length, lastAttempt });
  }
  return shown;
}

export function showWholeDelivery(
  record: DeliveryRecord,
  givesUpAt: number | undefined,
  tenant: string,
  ids: OpaqueIds,
): ShownWholeDelivery {
  const { attempts, body } = record;
  return { ...headOf(record, tenant, ids), attempts: attempts.map(showAttempt), body, givesUpAt };
}

function headOf(record: DeliveryRecord, tenant: string, ids: OpaqueIds) {
  const { id, destination, messageId, state, acceptedAt, nextAttemptAt, reason, body } = record;
  const { type, event } = Object(parseJson(body)) as { type?: string; event?: string };
  return {
    id: ids.conceal(tenant, id),
    endpoint: ids.endpoint(destination),
    messageId,
    type,
    event,
    state: shownState(state),
    acceptedAt,
    nextAttemptAt,
    reason: reason === undefined ? undefined : reasonClass(reason),
  };
}

function shownState(state: DeliveryState): ShownState {
  const states = Object.entries(SHOWN_STATES) as [ShownState, readonly DeliveryState[]][];
  return states.find(([, all]) => all.includes(state))![0];
}

/**
 * Returns the class of a reason alone: the text of another one may be of the operator's code. A refused address is not
 * told from a URL that failed otherwise.
 */
function reasonClass(reason: string): string {
  const found = classOfReason(reason);
  if (found === 'address_not_allowed') return 'all_failed';
  return Object.hasOwn(DEAD_REASONS, found) ? found : 'failed';
}
