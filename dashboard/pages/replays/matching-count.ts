import type { DeliveryCounts } from '../../../lib/webhook-destination/admin/api/delivery-count.js';
import { get } from '../../api/api.client.js';
import type { Portion } from '../../api/keyset.hook.js';
import type { DeliveryFilter } from '../deliveries/delivery-filter.js';

/** Counts the matching deliveries, as far as the relay does in one answer. */
export async function countMatching(
  filter: DeliveryFilter,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Portion<DeliveryCounts>> {
  const counts = await get<DeliveryCounts>('deliveries/count', { query: { ...filter, cursor }, signal });
  return { rows: [counts], cursor: counts.cursor };
}

export function totalOf(counts: readonly DeliveryCounts[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}
