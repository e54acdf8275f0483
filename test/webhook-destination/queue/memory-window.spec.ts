import { describe, expect, it } from 'vitest';

import { MemoryWindow } from '../../../lib/webhook-destination/queue/store/memory-window.js';
import { newDelivery } from '../../support/new-delivery.js';

const MIB = 1024 * 1024;

const delivery = { ...newDelivery('m1'), body: Buffer.alloc(1_000) };

describe('The deliveries of many destinations in memory', () => {
  it('are bounded while all of them are read at once', () => {
    const total = { bytes: 0 };
    const windows = Array.from({ length: 1_000 }, () => new MemoryWindow(64, false, total));
    const rooms = windows.map((window) => window.reserve()!);
    expect(rooms.filter(({ deliveries }) => deliveries === 16 * 64)).toHaveLength(16);
    expect(rooms.filter(({ deliveries }) => deliveries === 8)).toHaveLength(1_000 - 16);
    for (const [index, window] of windows.entries()) window.release(rooms[index]!);
    expect(total.bytes).toBe(0);
  });

  it('are read again once half of the few places are free, so that a slow answer does not hold up the others', () => {
    const window = new MemoryWindow(64, false, { bytes: 128 * MIB });
    window.release(window.reserve()!);
    for (let count = 0; count < 8; count++) window.hold(delivery);
    for (let count = 0; count < 3; count++) window.drop(delivery);
    expect(window.reserve()).toBeUndefined();
    window.drop(delivery);
    expect(window.reserve()).toMatchObject({ deliveries: 4 });
  });

  it('are read by the concurrency at least while there is room', () => {
    const window = new MemoryWindow(2, true, { bytes: 0 });
    for (let count = 0; count < 7; count++) window.hold(delivery);
    expect([window.takes(1), window.takes(2), window.reserve()]).toEqual([true, false, undefined]);
    window.drop(delivery);
    expect(window.reserve()).toEqual({ deliveries: 2, bytes: 16 * MIB - 6 * (1_000 + 2_048) });
  });
});
