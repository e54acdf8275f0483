import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { KeptLog } from '../../../lib/webhook-destination/queue/log-store.interface.js';
import { LogWriter } from '../../../lib/webhook-destination/queue/log.writer.js';

const log = (name: string): KeptLog => ({ name, age: 60_000, count: 10 });

describe('A closed writer of logs', () => {
  let settle: { resolve: (isWritten: boolean) => void; reject: (error: Error) => void };
  const write = vi.fn(() => new Promise<boolean>((resolve, reject) => (settle = { resolve, reject })));
  const errors = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

  beforeEach(() => {
    vi.useFakeTimers();
    write.mockClear();
    errors.mockClear();
  });
  afterEach(() => void vi.useRealTimers());

  /** Closes a writer with a record of each of two logs, while the store does not answer. */
  async function closeUnanswered(): Promise<LogWriter> {
    const writer = new LogWriter({ write }, 'Entries');
    writer.put(log('one'), 'a', {});
    writer.put(log('two'), 'b', {});
    const closed = writer.close();
    await vi.advanceTimersByTimeAsync(2_000);
    await closed;
    expect(errors.mock.calls.flat().join()).toContain('Entries lost, as they could not be written: 2');
    return writer;
  }

  it('does not try again when a write fails afterwards', async () => {
    const writer = await closeUnanswered();
    settle.reject(new Error('the store is closed'));
    writer.put(log('one'), 'c', {});
    await vi.advanceTimersByTimeAsync(60_000);
    await writer.flush();
    expect(write).toHaveBeenCalledTimes(1);
  });

  it('does not write the rest when a write is answered afterwards', async () => {
    await closeUnanswered();
    settle.resolve(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(write).toHaveBeenCalledTimes(1);
  });
});
