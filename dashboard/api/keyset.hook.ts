import { useEffect, useRef, useState } from 'preact/hooks';

import { keep, recall, recallRows } from '../shell/history-entry.state.js';
import { get, type Query } from './api.client.js';
import type { ApiError } from './api.error.js';

/** A portion of a list; the last one has no cursor. */
export interface Portion<T> {
  rows: T[];
  cursor?: string | undefined;
  /** How far back a search has read, in ms since the epoch. */
  reached?: number | undefined;
  /** When the first kept record of a delivered message was delivered, in ms since the epoch; null without one. */
  deliveredSince?: number | null | undefined;
}

/** Loads a portion of a list, whose rows are in a field with the name of the route. */
export async function getPortion<T>(
  route: 'deliveries' | 'destinations' | 'refusals' | 'sources',
  query: Query,
  signal: AbortSignal,
  isPoll?: boolean,
): Promise<Portion<T>> {
  const answer = await get<Record<typeof route, T[]> & Omit<Portion<T>, 'rows'>>(route, { query, signal, isPoll });
  return { rows: answer[route], cursor: answer.cursor, deliveredSince: answer.deliveredSince };
}

export interface Keyset<T> {
  rows: T[];
  isLoading: boolean;
  error: ApiError | undefined;
  reached: number | undefined;
  deliveredSince: number | null | undefined;
  /** When the rows were read, if that was before Back; in ms since the epoch. */
  readAt: number | undefined;
  /** Loads the next page; undefined at the end of the list, and while a page is loading. */
  more: (() => void) | undefined;
  /** Stops loading and keeps the rows found so far; undefined unless the page takes more than one portion. */
  stop: (() => void) | undefined;
  /** Loads the list again; the rows stay until new ones have arrived. */
  reload: () => void;
}

/** Number of rows per page. */
export const PAGE_ROWS = 50;

interface State<T> extends Portion<T> {
  isLoading: boolean;
  /** A portion of the page has arrived, and more are loading. */
  isSearching?: boolean;
  error?: ApiError;
  readAt?: number | undefined;
}

const NOTHING: State<never> = { rows: [], isLoading: true };

/**
 * Loads a list page by page. A portion may have few rows, or none, even if more follow: portions are loaded until the
 * page is full or the user stops loading. Back shows what was loaded, unless something has been changed since; a reload
 * loads as many rows. Counts, whose page is infinite, are always made anew.
 *
 * @param key when it changes, loads the list from its start
 * @param pageRows number of rows per page
 */
export function useKeyset<T>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Portion<T>>,
  key: string,
  pageRows = PAGE_ROWS,
): Keyset<T> {
  const isKept = Number.isFinite(pageRows);
  const recallState = () => (isKept ? recall<State<T>>(key) : undefined);
  const [state, setState] = useState<State<T>>(() => recallState() ?? NOTHING);
  const control = useRef<AbortController>(undefined);
  const loadNow = useRef(load);
  loadNow.current = load;

  const readPage = async (before: State<T>, count = pageRows) => {
    control.current?.abort();
    const { signal } = (control.current = new AbortController());
    const show = (next: State<T>) => signal.aborted || setState(next);
    const { readAt } = before;
    let { rows, cursor, reached, deliveredSince } = before;
    const goal = rows.length + count;
    setState(({ rows, reached, deliveredSince }) => ({ rows, reached, deliveredSince, readAt, isLoading: true }));
    try {
      do {
        const portion = await loadNow.current(cursor, signal);
        rows = [...rows, ...portion.rows];
        ({ cursor, reached, deliveredSince } = portion);
        show({ rows, cursor, reached, deliveredSince, readAt, isLoading: true, isSearching: true });
      } while (cursor !== undefined && rows.length < goal && !signal.aborted);
      show({ rows, cursor, reached, deliveredSince, readAt, isLoading: false });
    } catch (error) {
      show({ rows, cursor, reached, deliveredSince, readAt, isLoading: false, error: error as ApiError });
    }
  };

  useEffect(() => {
    const before = recallState();
    setState(before ?? NOTHING);
    if (!before) void readPage(NOTHING, isKept ? Math.max(pageRows, recallRows()) : pageRows);
    return () => control.current?.abort();
  }, [key]);
  useEffect(() => {
    if (!isKept || state.isLoading || state.error) return;
    keep(key, { ...state, readAt: state.readAt ?? Date.now() }, state.rows.length);
  }, [state]);

  const stop = () => {
    control.current?.abort();
    setState((before) => ({ ...before, isLoading: false, isSearching: false }));
  };

  const { rows, cursor, reached, deliveredSince, readAt, isLoading, isSearching, error } = state;
  const hasMore = !isLoading && (cursor !== undefined || error !== undefined);
  return {
    rows,
    isLoading,
    error,
    reached,
    deliveredSince,
    readAt,
    more: hasMore ? () => void readPage(state) : undefined,
    stop: isSearching ? stop : undefined,
    reload: () => void readPage(NOTHING),
  };
}
