import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { ApiError } from './api.error.js';

export interface Loaded<T> {
  /** The last answer; kept while the next one is loading, and if it fails, unless with 404. */
  answer: T | undefined;
  error: ApiError | undefined;
  /** When the answer arrived, in ms since the epoch; undefined without one. */
  answeredAt: number | undefined;
  /** Requests the answer again. */
  reload: () => void;
}

/**
 * Loads an answer of the API.
 *
 * @param key when it changes, discards the answer and loads another
 * @param every interval between reloads, in ms; skipped while the tab is hidden or an answer is pending
 */
export function useAnswer<T>(
  load: (signal: AbortSignal, isPoll: boolean) => Promise<T>,
  key: string,
  every?: number,
): Loaded<T> {
  const [state, setState] = useState<{ key: string; answer?: T; answeredAt?: number; error?: ApiError }>();
  const [round, setRound] = useState(0);
  const loadNow = useRef(load);
  loadNow.current = load;
  const isPending = useRef(false);
  const isPoll = useRef(false);
  useEffect(() => {
    const control = new AbortController();
    isPending.current = true;
    const isByItself = isPoll.current;
    isPoll.current = false;
    loadNow.current(control.signal, isByItself).then(
      (answer) => {
        if (control.signal.aborted) return;
        isPending.current = false;
        setState({ key, answer, answeredAt: Date.now() });
      },
      (error: unknown) => {
        if (control.signal.aborted) return;
        isPending.current = false;
        const fault = error as ApiError;
        const isKept = fault.status !== 404; // what no longer exists must not look as if it did
        setState((before) => ({ ...(isKept && before?.key === key && before), key, error: fault }));
      },
    );
    return () => control.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (every === undefined) return;
    const poll = () => {
      if (document.hidden || isPending.current) return;
      isPoll.current = true;
      reload();
    };
    const timer = setInterval(poll, every);
    return () => clearInterval(timer);
  }, [every]);
  const current = state?.key === key ? state : undefined;
  return { answer: current?.answer, answeredAt: current?.answeredAt, error: current?.error, reload };
}
