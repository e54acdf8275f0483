import type { AnalyticsSettings, HTTPResponse } from 'nestjs-analytics-relay/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { create, event, tracked } from './support/harness.js';

/** Answers of a stubbed HTTP client: a status, a response, or an error to reject with. */
type Answer = number | Error | Partial<HTTPResponse>;

// The rules take minutes: time is the test's own, and so is the HTTP client.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An instance whose requests are answered in order, the last answer again and again, and when they were made. */
function scripted(answers: Answer[], settings: Partial<AnalyticsSettings> = {}) {
  const times: number[] = [];
  const retryCounts: (string | undefined)[] = [];
  const analytics = create({
    maxEventsInBatch: 1,
    ...settings,
    httpClient: {
      makeRequest({ headers }) {
        const answer = answers[Math.min(times.length, answers.length - 1)]!;
        times.push(Date.now());
        retryCounts.push(headers['X-Retry-Count']);
        if (answer instanceof Error) return Promise.reject(answer);
        const response = typeof answer === 'number' ? { status: answer } : answer;
        return Promise.resolve({ status: 429, statusText: 'X', ...response });
      },
    },
  });
  return { analytics, times, retryCounts, waits: () => times.slice(1).map((time, i) => time - times[i]!) };
}

/** Lets all time pass that timers wait for. */
const passTime = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('retries', () => {
  it.each([408, 410, 429, 460, 500, 502, 503, 504, 599])('%i is retried three times by default', async (status) => {
    const { analytics, retryCounts } = scripted([status]);
    const outcome = tracked(analytics);
    await passTime(60_000);
    expect((await outcome).err).toHaveProperty('message', `[${status}] X`);
    expect(retryCounts).toEqual([undefined, '1', '2', '3']);
  });

  it('a network error is retried, and is the reason once retries are used up', async () => {
    const { analytics, times } = scripted([new Error('unplugged')], { maxRetries: 2 });
    const outcome = tracked(analytics);
    await passTime(60_000);
    expect((await outcome).err).toHaveProperty('message', 'unplugged');
    expect(times).toHaveLength(3);
  });

  it('waits double from 500 ms, with jitter, and stay below 60 s', async () => {
    const { analytics, waits } = scripted([503], { maxRetries: 10 });
    const outcome = tracked(analytics);
    await passTime(600_000);
    await outcome;
    expect(waits()).toHaveLength(10);
    waits().forEach((wait, i) => {
      expect(wait).toBeGreaterThanOrEqual(Math.min(500 * 2 ** i, 60_000));
      expect(wait).toBeLessThanOrEqual(Math.min(500 * 2 ** i * 1.5 + 1, 60_000));
    });
  });

  it('jitter makes instances differ', async () => {
    const all = Array.from({ length: 20 }, () => scripted([503, 200]));
    const outcomes = all.map(({ analytics }) => tracked(analytics));
    await passTime(2000);
    await Promise.all(outcomes);
    expect(new Set(all.map(({ waits }) => waits()[0])).size).toBeGreaterThan(5);
  });

  it.each([
    ['seconds', '7', 7000],
    ['an HTTP date', new Date(Date.UTC(2030, 0, 1, 0, 0, 9)).toUTCString(), 9000],
    ['0, which would be no wait at all', '0', 1000],
    ['a date that has passed', new Date(0).toUTCString(), 1000],
    ['more than five minutes', '86400', 300_000],
  ])('Retry-After as %s is obeyed without using up a retry', async (_form, header, expected) => {
    vi.setSystemTime(Date.UTC(2030, 0, 1));
    const { analytics, waits } = scripted([{ headers: { 'Retry-After': header } }, 200], { maxRetries: 0 });
    const outcome = tracked(analytics);
    await passTime(400_000);
    expect((await outcome).err).toBeUndefined();
    expect(waits()).toEqual([expected]);
  });

  it('a clock that is set back during the pause of Retry-After does not prolong it', async () => {
    const { analytics, times } = scripted([{ headers: { 'Retry-After': '7' } }, 200], { maxRetries: 0 });
    const outcome = tracked(analytics);
    await passTime(1_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    await passTime(5_900);
    expect(times).toHaveLength(1);
    await passTime(200);
    expect((await outcome).err).toBeUndefined();
    expect(times).toHaveLength(2);
  });

  it('Retry-After is found in headers as fetch gives them', async () => {
    const { analytics, waits } = scripted([{ headers: new Headers({ 'retry-after': '3' }) }, 200], { maxRetries: 0 });
    const outcome = tracked(analytics);
    await passTime(10_000);
    expect((await outcome).err).toBeUndefined();
    expect(waits()).toEqual([3000]);
  });

  it('a 429 without a usable Retry-After is an ordinary retry', async () => {
    const { analytics, times } = scripted([{ headers: { 'retry-after': 'later' } }], { maxRetries: 1 });
    const outcome = tracked(analytics);
    await passTime(60_000);
    expect((await outcome).err).toHaveProperty('message', '[429] X');
    expect(times).toHaveLength(2);
  });

  it('a receiver that never stops putting off is given up: 20 times beyond the retries', async () => {
    const { analytics, times } = scripted([{ headers: { 'retry-after': '1' } }], { maxRetries: 2 });
    const outcome = tracked(analytics);
    await passTime(120_000);
    expect((await outcome).err).toHaveProperty('message', '[429] X');
    expect(times).toHaveLength(1 + 20 + 2);
  });

  it('Retry-After stops every batch of the instance, and no other instance', async () => {
    const { analytics, times } = scripted([{ headers: { 'retry-after': '30' } }, 200]);
    const other = scripted([200]);
    const first = tracked(analytics);
    await passTime(100);
    const second = tracked(analytics);
    expect((await tracked(other.analytics)).err).toBeUndefined();
    await passTime(20_000);
    expect(times).toHaveLength(1);
    await passTime(10_000);
    expect((await first).err).toBeUndefined();
    expect((await second).err).toBeUndefined();
    expect(times).toHaveLength(3);
  });

  it('a client that never answers is given up after httpRequestTimeout, by default 10 s', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const analytics = create({
      maxEventsInBatch: 1,
      maxRetries: 0,
      httpClient: {
        makeRequest({ signal }) {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      },
    });
    const ended = vi.fn();
    analytics.track(event(), ended);
    await passTime(9_900);
    expect(ended).not.toHaveBeenCalled();
    await passTime(200);
    expect(ended.mock.calls[0]![0]).toHaveProperty('message', 'The request took longer than 10000 ms');
    expect(signals[0]!.aborted).toBe(true);
  });

  it('a callback comes with the answer, and no time later', async () => {
    const { analytics } = scripted([200]);
    const callback = vi.fn();
    analytics.track(event(), callback);
    await passTime(0);
    expect(callback.mock.calls).toEqual([[undefined, expect.anything()]]);
  });

  it('no timer is left once nothing is pending', async () => {
    const { analytics } = scripted([503, 200]);
    const outcome = tracked(analytics);
    await passTime(10_000);
    await outcome;
    await analytics.flush({ timeout: 1000 });
    expect(vi.getTimerCount()).toBe(0);
  });
});
