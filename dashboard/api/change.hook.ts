import { useRef, useState } from 'preact/hooks';

import type { ApiError } from './api.error.js';

export interface Change<A extends unknown[]> {
  /** Starts the change, unless one is already in progress. */
  run: (...args: A) => void;
  /** Whether it is in progress now, which the page may not show yet. */
  readonly isBusy: boolean;
  /** Error of the last run. */
  error: ApiError | undefined;
}

/** Makes a change through the API, one at a time. */
export function useChange<A extends unknown[]>(change: (...args: A) => Promise<unknown>): Change<A> {
  const [state, setState] = useState<{ error?: ApiError }>({});
  const isBusy = useRef(false);
  const run = async (...args: A) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setState({});
    try {
      await change(...args);
      setState({});
    } catch (error) {
      setState({ error: error as ApiError });
    } finally {
      isBusy.current = false;
    }
  };
  return {
    run: (...args) => void run(...args),
    get isBusy() {
      return isBusy.current;
    },
    error: state.error,
  };
}
