import { Test } from '@nestjs/testing';
import { expect as expectOfJest } from 'expect';
import { AnalyticsService } from 'nestjs-analytics-relay';
import { AnalyticsRecorder, analyticsMatchers, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import { describe, expect as expectOfVitest, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';

expectOfVitest.extend(analyticsMatchers);
expectOfJest.extend(analyticsMatchers); // last, because Vitest writes to Jest's matchers too

describe.each([
  ['Jest', expectOfJest],
  ['Vitest', expectOfVitest as unknown as typeof expectOfJest],
])('The matchers of %s', (_name, expect) => {
  const afterwards = useCleanUps();

  async function start() {
    const app = await Test.createTestingModule({ imports: [AnalyticsTestingModule] }).compile();
    afterwards(() => app.close());
    return { analytics: app.get(AnalyticsService), recorder: app.get(AnalyticsRecorder) };
  }

  /** What a failed expectation says, without colours, and with an object on one line, which Vitest spreads over many. */
  function failure(expectation: () => void): string {
    try {
      expectation();
    } catch (error) {
      // eslint-disable-next-line no-control-regex -- colours are control sequences
      const text = (error as Error).message.replace(/\u001b\[\d+m/g, '');
      return text
        .replace(/Object \{\s+/g, '{')
        .replace(/,\n\}/g, '}')
        .replace(/,\n +"/g, ', "');
    }
    throw new Error('The expectation held');
  }

  it('hold for an event with these properties, and others beside them', async () => {
    const { analytics, recorder } = await start();
    analytics.track({ userId: 'u', event: 'Order Completed', properties: { orderId: 'o1', revenue: 3 } });
    analytics.identify({ userId: 'u', traits: { plan: 'pro', age: 5 } });
    analytics.identify({ anonymousId: 'a' });
    expect(recorder).toHaveTracked('Order Completed');
    expect(analytics).toHaveTracked('Order Completed', { orderId: 'o1' });
    expect(recorder).toHaveTracked('Order Completed', { revenue: expect.any(Number) });
    expect(recorder).not.toHaveTracked('Order Completed', { orderId: 'o2' });
    expect(recorder).not.toHaveTracked('Order');
    expect(analytics).toHaveIdentified('u', { plan: 'pro' });
    expect(recorder).toHaveIdentified('a');
    expect(recorder).not.toHaveIdentified('u', { plan: 'free' });
  });

  it('show the nearest event of the name, and what is different', async () => {
    const { analytics, recorder } = await start();
    for (const orderId of ['o1', 'o2']) {
      analytics.track({ userId: 'u', event: 'Order Completed', properties: { orderId, revenue: 5 } });
    }
    analytics.track({ userId: 'u', event: 'Order Cancelled', properties: { orderId: 'o1', revenue: 3 } });
    expect(failure(() => expect(recorder).toHaveTracked('Order Completed', { orderId: 'o1', revenue: 3 }))).toBe(
      [
        'expect(recorder).toHaveTracked("Order Completed", {"orderId": "o1", "revenue": 3})',
        '',
        'Nearest of 3 recorded: "Order Completed"',
        '  properties.revenue: expected 3, recorded 5',
      ].join('\n'),
    );
  });

  it('show the most similar name, and what else was recorded', async () => {
    const { analytics, recorder } = await start();
    for (const event of ['Signed Up', 'order completed', 'Coupon Used']) analytics.track({ userId: 'u', event });
    analytics.identify({ userId: 'u' });
    expect(failure(() => expect(recorder).toHaveTracked('Order Completed'))).toBe(
      [
        'expect(recorder).toHaveTracked("Order Completed")',
        '',
        'Nearest of 3 recorded: "order completed"',
        'All recorded: "Signed Up", "order completed", "Coupon Used", identify u',
      ].join('\n'),
    );
    expect(failure(() => expect(recorder).toHaveIdentified('u', { plan: 'pro' }))).toContain(
      'Nearest of 1 recorded: "u"\n  traits.plan: expected "pro", recorded undefined',
    );
  });

  it('say so when nothing of the kind was recorded', async () => {
    const { analytics, recorder } = await start();
    analytics.page({ userId: 'u', name: 'Home' });
    expect(failure(() => expect(recorder).toHaveTracked('E'))).toContain(
      'No track event was recorded. Recorded: page Home',
    );
    recorder.clear();
    expect(failure(() => expect(recorder).toHaveIdentified('u'))).toContain(
      'No identify event was recorded. Recorded: nothing',
    );
  });

  it('show the event that should not have been recorded', async () => {
    const { analytics, recorder } = await start();
    analytics.track({ userId: 'u', event: 'E', properties: { a: 1 } });
    expect(failure(() => expect(recorder).not.toHaveTracked('E'))).toBe(
      'expect(recorder).not.toHaveTracked("E")\n\nRecorded: "E" with properties {"a": 1}',
    );
  });

  it.each([undefined, 5, {}])('refuse what is no recorder: %s', (value) => {
    expect(() => expect(value).toHaveTracked('E')).toThrow('toHaveTracked takes an AnalyticsRecorder');
  });
});
