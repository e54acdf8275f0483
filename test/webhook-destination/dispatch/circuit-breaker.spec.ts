import { describe, expect, it } from 'vitest';

import { CircuitBreaker } from '../../../lib/webhook-destination/dispatch/circuit-breaker.js';

const THRESHOLD = 10;

function opened(now: number): CircuitBreaker {
  const circuit = new CircuitBreaker(10_000, 1_800_000);
  for (let i = 0; i < THRESHOLD; i++) circuit.fail(now);
  return circuit;
}

describe('CircuitBreaker', () => {
  it('opens when attempts fail one after the other, and not before', () => {
    const circuit = new CircuitBreaker(10_000, 1_800_000);
    for (let i = 1; i < THRESHOLD; i++) expect(circuit.fail(0)).toBeUndefined();
    expect(circuit.isOpen).toBe(false);
    expect(circuit.fail(0)).toBe('opened');
    expect(circuit.isOpen).toBe(true);
  });

  it('holds back until a whole millisecond, whatever its interval', () => {
    const circuit = new CircuitBreaker(1_000.5, 1_800_000);
    for (let i = 0; i < THRESHOLD; i++) circuit.fail(7);
    expect(circuit.holdUntil(7)).toBe(1_008);
    expect(circuit.admit(1_008)).toBe(1);
  });

  it('stays closed as long as some succeed', () => {
    const circuit = new CircuitBreaker(10_000, 1_800_000);
    for (let i = 0; i < 100; i++) {
      for (let j = 1; j < THRESHOLD; j++) circuit.fail(0);
      expect(circuit.succeed()).toBeUndefined();
    }
    expect(circuit.isOpen).toBe(false);
  });

  it('lets one probe through at a time, ever more rarely, but once a minute', () => {
    const circuit = opened(0);
    let now = 0;
    for (const wait of [10_000, 20_000, 40_000, 60_000, 60_000]) {
      expect(circuit.admit(now + wait - 1)).toBeUndefined();
      now += wait;
      const probe = circuit.admit(now);
      expect(probe).toBeGreaterThan(0);
      expect(circuit.admit(now)).toBeUndefined();
      expect(circuit.admit(now + 1_000_000)).toBeUndefined();
      expect(circuit.fail(now, probe)).toBeUndefined();
    }
  });

  it('takes no notice of attempts that were under way when it opened', () => {
    const circuit = opened(0);
    for (let i = 0; i < 50; i++) expect(circuit.fail(5_000)).toBeUndefined();
    expect(circuit.admit(10_000)).toBe(1);
  });

  it('closes at the first success, for all', () => {
    const circuit = opened(0);
    expect(circuit.admit(10_000)).toBe(1);
    expect(circuit.succeed()).toBe('closed');
    expect(circuit.admit(10_001)).toBe(0);
    expect(circuit.admit(10_001)).toBe(0);
  });

  it('holds deliveries back until the next probe', () => {
    const circuit = opened(0);
    expect([circuit.holdUntil(1), circuit.holdUntil(2)]).toEqual([10_000, 10_000]);
    const probe = circuit.admit(10_000);
    expect(circuit.holdUntil(10_001)).toBe(20_001);
    circuit.fail(15_000, probe);
    expect(circuit.holdUntil(15_001)).toBe(35_000);
  });

  it('never holds back a last attempt, which becomes the probe when one is due', () => {
    const circuit = opened(0);
    expect(circuit.admit(1)).toBeUndefined();
    expect([circuit.admit(1, true), circuit.admit(2, true)]).toEqual([0, 0]);
    circuit.fail(3);
    expect(circuit.admit(10_000, true)).toBe(1);
    expect([circuit.admit(10_001, true), circuit.admit(10_001)]).toEqual([0, undefined]);
  });

  it('holds everything back in a pause, open or closed, and the longest pause counts', () => {
    const circuit = new CircuitBreaker(10_000, 1_800_000);
    expect(circuit.pause(5_000, 5_000)).toBe(false);
    expect([circuit.pause(60_000, 5_000), circuit.pause(30_000, 6_000)]).toEqual([true, false]);
    expect([circuit.admit(59_999), circuit.admit(59_999, true), circuit.holdUntil(7_000)]).toEqual([
      undefined,
      undefined,
      60_000,
    ]);
    for (let i = 0; i < THRESHOLD; i++) circuit.fail(7_000);
    expect(circuit.holdUntil(7_000)).toBe(60_000);
    expect(circuit.admit(59_999, true)).toBeUndefined();
    expect([circuit.admit(60_000), circuit.admit(60_000)]).toEqual([1, undefined]);
  });

  it('lets another attempt be the probe if no request of one was made, even if that waited in a pause', () => {
    const circuit = opened(0);
    const probe = circuit.admit(10_000)!;
    circuit.pause(60_000, 10_001);
    circuit.release(probe);
    expect([circuit.admit(59_999), circuit.admit(60_000)]).toEqual([undefined, 2]);
    circuit.release(probe); // not the one in progress
    expect(circuit.admit(60_001)).toBeUndefined();
  });

  it('takes no notice of a probe that it closed over when the next one is under way', () => {
    const circuit = opened(0);
    const old = circuit.admit(10_000);
    circuit.succeed();
    for (let i = 0; i < THRESHOLD; i++) circuit.fail(20_000);
    expect(circuit.admit(30_000)).toBe(2);
    circuit.fail(30_001, old);
    expect(circuit.admit(1_000_000)).toBeUndefined();
  });
});
