import { useRef, useState } from 'preact/hooks';

import type { ApiError } from './api.error.js';

export interface Change<A extends unknown[]> {
  /** Starts the change, unless one is already in progress. */
  run: (...args: A) => void;
  isBusy: boolean;
  /** Error of the last run. */
  error: ApiError | undefined;
}

/** Makes a change through the API, one at a time. */
export function useChange<A extends unknown[]>(change: (...args: A) => Promise<unknown>): Change<A> {
  const [state, setState] = useState<{ isBusy: boolean; error?: ApiError }>({ isBusy: false });
  const isBusy = useRef(false);
  const run = async (...args: A) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setState({ isBusy: true });
    try {
      await change(...args);
      setState({ isBusy: false });
    } catch (error) {
      setState({ isBusy: false, error: error as ApiError });
    } finally {
      isBusy.current = false;
    }
  };
  return { run: (...args) => void run(...args), isBusy: state.isBusy, error: state.error };
}
