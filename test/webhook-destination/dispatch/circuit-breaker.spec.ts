import { describe, expect, it } from '@jest/globals';

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
    expect(circuit.admits(1_008)).toBe(true);
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
      expect(circuit.admits(now + wait - 1)).toBe(false);
      now += wait;
      expect(circuit.admits(now)).toBe(true);
      expect(circuit.admits(now)).toBe(false);
      expect(circuit.admits(now + 1_000_000)).toBe(false);
      expect(circuit.fail(now, circuit.probe)).toBeUndefined();
    }
  });

  it('takes no notice of attempts that were under way when it opened', () => {
    const circuit = opened(0);
    for (let i = 0; i < 50; i++) expect(circuit.fail(5_000)).toBeUndefined();
    expect(circuit.admits(10_000)).toBe(true);
  });

  it('closes at the first success, for all', () => {
    const circuit = opened(0);
    expect(circuit.admits(10_000)).toBe(true);
    expect(circuit.succeed()).toBe('closed');
    expect(circuit.admits(10_001)).toBe(true);
    expect(circuit.admits(10_001)).toBe(true);
  });

  it('holds deliveries back until the next probe', () => {
    const circuit = opened(0);
    expect([circuit.holdUntil(1), circuit.holdUntil(2)]).toEqual([10_000, 10_000]);
    circuit.admits(10_000);
    expect(circuit.holdUntil(10_001)).toBe(20_001);
    circuit.fail(15_000, circuit.probe);
    expect(circuit.holdUntil(15_001)).toBe(35_000);
  });

  it('starts the window of what was never attempted when it kept it from its first attempt, and not before', () => {
    const circuit = opened(1_000);
    expect([circuit.windowStart(0), circuit.windowStart(3_000)]).toEqual([1_000, 3_000]);
    circuit.admits(11_000);
    circuit.succeed();
    expect(circuit.windowStart(0)).toBeUndefined();
  });

  it('lets a delivery through that has no other chance, unless a probe is under way', () => {
    const circuit = opened(0);
    expect(circuit.admits(1)).toBe(false);
    expect(circuit.admits(1, true)).toBe(true);
    expect(circuit.admits(2, true)).toBe(false);
    circuit.fail(3, circuit.probe);
    expect(circuit.admits(4)).toBe(false);
    expect(circuit.admits(4, true)).toBe(true);
  });

  it('takes no notice of a probe that it closed over when the next one is under way', () => {
    const circuit = opened(0);
    circuit.admits(10_000);
    const { probe: old } = circuit;
    circuit.succeed();
    for (let i = 0; i < THRESHOLD; i++) circuit.fail(20_000);
    expect(circuit.admits(30_000)).toBe(true);
    circuit.fail(30_001, old);
    expect(circuit.admits(1_000_000)).toBe(false);
  });
});
