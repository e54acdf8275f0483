import { setImmediate as nextTurn } from 'node:timers/promises';

import { parseJson } from '../../../common/value.util.js';
import type { QueryReader } from '../../http/query.reader.js';
import { RequestError } from '../../http/request.error.js';
import { DEAD_REASONS } from '../../queue/dead-reasons.js';
import type { DeliveryPortion, DeliverySearch } from '../../queue/delivery-search.js';
import { DELIVERY_STATES, type DeliveryRecord } from '../../queue/delivery.interface.js';
import { withoutAnswers } from '../../queue/kept-answers.util.js';
import { isSearchable } from '../../search.options.js';

/** Deliveries converted without a pause: parsing ten bodies of the maximum size takes about 4 ms. */
const UNPAUSED = 10;

/** Query fields that select deliveries. */
export const SEARCH_FIELDS: Record<string, string> = {
  state: `one of ${DELIVERY_STATES.join(', ')}`,
  destination: 'name of the destination',
  source: 'name of the source',
  type: 'type of the message, or delete',
  event: 'name of the event',
  eventStart: 'how the name of the event begins',
  messageId: 'id of the message',
  userId: 'user of the message',
  anonymousId: 'anonymous id of the message',
  'field.*':
    'value of this field of the message, such as field.properties.orderId; those of search.fields are found at once',
  status: 'HTTP status that a URL answered in the last attempt',
  release: 'release of the application that recorded the message in this process',
  reason: `why deliveries are dead: one of ${Object.keys(DEAD_REASONS).join(', ')}, or an exact reason`,
  from: 'accepted at this time or later: ms since the epoch, or ISO 8601',
  to: 'accepted before this time',
};

/** @throws {RequestError} 400 that names the invalid field */
export function readSearch(query: QueryReader): DeliverySearch {
  const search: DeliverySearch = {
    state: query.oneOf('state', DELIVERY_STATES),
    destination: query.text('destination'),
    source: query.text('source'),
    type: query.text('type'),
    event: query.text('event'),
    eventStart: query.text('eventStart'),
    messageId: query.text('messageId'),
    userId: query.text('userId'),
    fields: readFields(query),
    status: query.status('status'),
    release: query.text('release'),
    reason: query.text('reason'),
    acceptedFrom: query.time('from'),
    acceptedBefore: query.time('to'),
  };
  if (search.reason !== undefined && (search.state ?? 'dead') !== 'dead') {
    throw new RequestError('query_invalid', 'state must be dead or omitted if reason is given', 'state');
  }
  return search;
}

function readFields(query: QueryReader): Record<string, string> | undefined {
  const fields = query.below('field');
  for (const [path, value] of Object.entries(fields)) {
    const name = `field.${path}`;
    if (value === '') throw new RequestError('query_invalid', `${name} must not be empty`, name);
    if (isSearchable(path)) continue;
    const rule = 'must be a field below properties, traits or context, or groupId, name or category';
    throw new RequestError('query_invalid', `${name} ${rule}`, name);
  }
  const anonymousId = query.text('anonymousId');
  const all = anonymousId === undefined ? fields : { ...fields, anonymousId };
  return Object.keys(all).length > 0 ? all : undefined;
}

/** @throws {RequestError} 400 that names the invalid field */
export function readPage(query: QueryReader): { limit: number; after: string | undefined } {
  return { limit: query.limit, after: query.text('cursor') };
}

/** Converts a portion of deliveries to the body of an answer, with pauses for other work. */
export async function showPortion({
  deliveries,
  next,
}: DeliveryPortion): Promise<{ deliveries: object[]; cursor: string | undefined }> {
  const shown: object[] = [];
  for (const record of deliveries) {
    if (shown.length % UNPAUSED === UNPAUSED - 1) await nextTurn();
    shown.push(showSummary(record));
  }
  return { deliveries: shown, cursor: next };
}

/** Converts a delivery for a list: without its body and answers, and with only its last attempt. */
function showSummary(record: DeliveryRecord): object {
  const { body, attempts } = record;
  const last = attempts.at(-1);
  const lastAttempt = last && withoutAnswers(last);
  return { ...record, ...typeOf(body), body: undefined, failedUrls: undefined, attempts: attempts.length, lastAttempt };
}

/** Converts a delivery with its body and all attempts. */
export function showDelivery(record: DeliveryRecord): object {
  // Each id ends in `#` and a digest of the whole URL, which the answer omits.
  const failedUrls = record.failedUrls.map((id) => id.replace(/#[0-9a-f]+$/, ''));
  return { ...record, ...typeOf(record.body), failedUrls };
}

function typeOf(body: string): { type?: string; event?: string } {
  const { type, event } = Object(parseJson(body)) as { type?: string; event?: string };
  return { type, event };
}
