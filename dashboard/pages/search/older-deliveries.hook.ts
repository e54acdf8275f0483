import { useEffect, useRef, useState } from 'preact/hooks';

import type { ApiError } from '../../api/api.error.js';
import { getPortion } from '../../api/keyset.hook.js';
import type { DeliverySummary } from '../deliveries/delivery.answer.js';
import type { FoundDeliveriesProps } from './found-deliveries.component.js';

type Query = FoundDeliveriesProps['query'];

/** Number of deliveries that are shown of each query. */
const LIMIT = 10;

interface Older {
  queries: Query[];
  found: FoundDeliveriesProps[];
  /** The query whose deliveries are read now. */
  current?: Query | undefined;
  /** Not all queries were read to their end. */
  isStopped?: boolean;
  error?: ApiError | undefined;
}

/**
 * Goes on, one query after another, where `GET search` had no time to read all deliveries.
 *
 * @param queries begins again with another array
 */
export function useOlderDeliveries(queries: Query[]): Omit<Older, 'queries'> & { stop: () => void } {
  const [older, setOlder] = useState<Older>({ queries: [], found: [] });
  const control = useRef<AbortController>(undefined);
  useEffect(() => {
    const { signal } = (control.current = new AbortController());
    void search(queries, signal, (next) => signal.aborted || setOlder({ queries, ...next }));
    return () => control.current?.abort();
  }, [queries]);
  const stop = () => {
    control.current?.abort();
    setOlder(({ found }) => ({ queries, found, isStopped: true }));
  };
  const begun = older.queries === queries ? older : { found: [], current: queries[0] };
  return { ...begun, stop };
}

async function search(
  queries: Query[],
  signal: AbortSignal,
  show: (older: Omit<Older, 'queries'>) => void,
): Promise<void> {
  let found: FoundDeliveriesProps[] = [];
  try {
    for (const query of queries) {
      show({ found, current: query });
      const [deliveries, more] = await findFirst(query, signal);
      if (deliveries.length > 0) found = [...found, { query, deliveries, more }];
    }
    show({ found });
  } catch (error) {
    show({ found, error: error as ApiError, isStopped: true });
  }
}

/** Returns the first deliveries that a query finds, and whether there may be more. */
async function findFirst(query: Query, signal: AbortSignal): Promise<[deliveries: DeliverySummary[], more: boolean]> {
  let cursor: string | undefined;
  do {
    const portion = await getPortion<DeliverySummary>('deliveries', { ...query, limit: LIMIT, cursor }, signal);
    ({ cursor } = portion);
    if (portion.rows.length > 0) return [portion.rows, cursor !== undefined];
  } while (cursor !== undefined);
  return [[], false];
}
