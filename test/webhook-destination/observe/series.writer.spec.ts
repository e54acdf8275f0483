import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { SeriesWriter } from '../../../lib/webhook-destination/observe/series.writer.js';
import type { SeriesRecord } from '../../../lib/webhook-destination/queue/series-store.interface.js';

const MINUTE = 60_000;

interface Counts {
  sum: number;
}

describe('SeriesWriter', () => {
  let fault: Error | undefined;
  const writes: { at: number; records: SeriesRecord[] }[] = [];
  const stored = new Map<string, SeriesRecord>();

  beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
    fault = undefined;
    writes.length = 0;
    stored.clear();
  });
  afterEach(() => void vi.useRealTimers());

  const store = {
    write(records: SeriesRecord[]): Promise<void> {
      writes.push({ at: Date.now(), records });
      if (fault) return Promise.reject(fault);
      for (const record of records) stored.set(`${record.series} ${record.minute} ${record.writer}`, record);
      return Promise.resolve();
    },
    read: (series: string, from: number, to: number) =>
      Promise.resolve(
        [...stored.values()].filter(
          (record) => record.series === series && record.minute >= from && record.minute <= to,
        ),
      ),
  };

  const kindOf = (interval: number) => ({
    interval,
    none: (): Counts => ({ sum: 0 }),
    add: (sum: Counts, counts: Counts) => void (sum.sum += counts.sum),
  });

  function start() {
    const writer = new SeriesWriter(store);
    return { writer, minutes: writer.add(kindOf(MINUTE)), tens: writer.add(kindOf(10 * MINUTE)) };
  }

  it('writes all kinds at once, at most once in 10 s', async () => {
    const { minutes, tens } = start();
    for (let second = 0; second < 300; second++) {
      minutes.now('crm').sum++;
      tens.now('shop').sum++;
      await vi.advanceTimersByTimeAsync(1_000);
    }
    const gaps = writes.slice(1).map(({ at }, index) => at - writes[index]!.at);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10_000);
    expect(writes.every(({ records }) => records.length >= 2)).toBe(true);
    expect(await tens.read('shop', 0, Date.now())).toEqual([[0, { sum: 300 }]]);
    expect(await minutes.read('crm', 0, Date.now())).toEqual([0, 1, 2, 3, 4].map((at) => [at * MINUTE, { sum: 60 }]));
  });

  it('tries again to write, and counts nothing twice', async () => {
    const { writer, minutes } = start();
    fault = new Error('the store is gone');
    minutes.now('crm').sum = 3;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect([writes.length > 1, stored.size]).toEqual([true, 0]);
    expect(await minutes.read('crm', 0, Date.now())).toEqual([[0, { sum: 3 }]]);
    fault = undefined;
    await writer.close();
    expect(await start().minutes.read('crm', 0, Date.now())).toEqual([[0, { sum: 3 }]]);
  });

  it('writes what was counted while the end of its interval was written', async () => {
    const { writer, minutes } = start();
    minutes.now('crm').sum = 1;
    const write = vi.spyOn(store, 'write').mockImplementationOnce(() => {
      vi.setSystemTime(MINUTE - 1);
      minutes.now('crm').sum++;
      vi.setSystemTime(MINUTE);
      return Promise.resolve();
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(write).toHaveBeenCalledTimes(1);
    await writer.close();
    expect(await start().minutes.read('crm', 0, Date.now())).toEqual([[0, { sum: 2 }]]);
    write.mockRestore();
  });

  /** Makes the next write last until it is told how it ends. */
  function holdWrite() {
    let end!: (fault?: Error) => void;
    const held = new Promise<void>((resolve, reject) => (end = (fault) => (fault ? reject(fault) : resolve())));
    const write = vi.spyOn(store, 'write').mockImplementationOnce(() => held);
    return { write, end };
  }

  it('keeps what a slow write could not store, whatever was counted meanwhile', async () => {
    const { writer, minutes } = start();
    const { write, end } = holdWrite();
    minutes.now('crm').sum = 3;
    await vi.advanceTimersByTimeAsync(MINUTE);
    minutes.now('crm').sum = 4;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(write).toHaveBeenCalledTimes(1);
    end(new Error('the store is gone'));
    await writer.close();
    const counts = await start().minutes.read('crm', 0, Date.now());
    expect(counts).toEqual([
      [0, { sum: 3 }],
      [MINUTE, { sum: 4 }],
    ]);
    write.mockRestore();
  });

  it('closes once a write that runs has ended, and what came after it is written', async () => {
    const { writer, minutes } = start();
    const { write, end } = holdWrite();
    minutes.now('crm').sum = 1;
    await vi.advanceTimersByTimeAsync(10_000);
    const onClosed = vi.fn();
    const closed = writer.close().then(onClosed);
    minutes.now('crm').sum = 2;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([write.mock.calls.length, onClosed.mock.calls.length]).toEqual([1, 0]);
    end();
    await closed;
    expect(await start().minutes.read('crm', 0, Date.now())).toEqual([[0, { sum: 2 }]]);
    write.mockRestore();
  });

  it('closes within 2 s though the store does not answer, and writes nothing once it has failed', async () => {
    const { writer, minutes } = start();
    const { write, end } = holdWrite();
    minutes.now('crm').sum = 1;
    const closed = writer.close();
    await vi.advanceTimersByTimeAsync(2_000);
    await closed;
    end(new Error('the store is gone'));
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(write).toHaveBeenCalledTimes(1);
    write.mockRestore();
  });
});
