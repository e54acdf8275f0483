import type { CheckedQuery } from '../../webhook-destination/queue/query.util.js';
import { encodeText } from './delivery.codec.js';

/** An id with fewer digits than the largest that PostgreSQL can hold, which has 19. */
const ID = /^\d{1,18}$/;

/** Whether a text can be the id of a delivery. */
export function isId(id: string): boolean {
  return ID.test(id);
}

/**
 * Converts a query to SQL, whose parameters follow those of `values`.
 *
 * @param keys keys that the deliveries have
 * @returns undefined if no delivery can match
 */
export function toConditions(
  query: CheckedQuery,
  values: readonly unknown[],
  keys: readonly number[] = [],
): { text: string; values: unknown[] } | undefined {
  const { id, destination, source, state, messageId, userId, reason, reasonStart, acceptedBefore } = query;
  if (id !== undefined && !isId(id)) return undefined;
  const terms: string[] = ['true'];
  const all = [...values];
  const add = (value: unknown, toTerm: (parameter: string) => string) => {
    all.push(value);
    terms.push(toTerm(`$${all.length}`));
  };
  const names = (given: ReadonlySet<string>) => Array.from(given, encodeText);
  if (id !== undefined) add(id, (value) => `id = ${value}::bigint`);
  // Not a parameter, so that the planner can choose the partial index for this state.
  if (state !== undefined) terms.push(`state = '${state}'`);
  if (destination !== undefined) add(encodeText(destination), (value) => `destination = ${value}`);
  if (source) add(names(source), (value) => `source = ANY(${value}::text[])`);
  if (messageId !== undefined) add(encodeText(messageId), (value) => `message_id = ${value}`);
  if (userId) add(names(userId), (value) => `user_id = ANY(${value}::text[])`);
  if (reason !== undefined) {
    add(encodeText(reason), (value) => `reason = ${value} AND left(reason, 64) = left(${value}, 64)`);
  }
  if (reasonStart !== undefined) add(encodeText(reasonStart), (value) => `starts_with(reason, ${value})`);
  if (keys.length > 0) add(keys, (value) => `search_keys @> ${value}::bigint[]`);
  if (acceptedBefore !== undefined) add(acceptedBefore, (value) => `accepted_at < ${value}::float8`);
  return { text: terms.join(' AND '), values: all };
}
