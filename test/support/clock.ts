import { vi } from 'vitest';

/**
 * Fakes the clock and its timers, and nothing that files and sockets need: they go on. With `shouldAdvanceTime`, so does the
 * clock, which can be advanced as well.
 */
export function fakeTimers(options: { now?: number; shouldAdvanceTime?: boolean } = {}): void {
  vi.useFakeTimers({
    ...options,
    toFake: ['Date', 'hrtime', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
  });
}

/** Sets the system's clock of this process by so many ms from where it is; `vi.restoreAllMocks` sets it right. */
export function setClock(offset: number): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + offset);
}
