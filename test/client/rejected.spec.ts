import { ExpressAdapter } from '@nestjs/platform-express';
import { memoryQueue } from 'nestjs-analytics-relay';
import { Analytics, type HTTPResponse, ValidationError } from 'nestjs-analytics-relay/client';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { startRelayApp } from '../support/relay.app.js';
import { create } from './support/harness.js';

const nested = (levels: number): object => (levels === 0 ? {} : { in: nested(levels - 1) });

describe('Events that the receiver refuses in a batch that it accepts', () => {
  const afterwards = useCleanUps();

  /** Records three events, the second of which is refused. Resolves with the outcome of each. */
  async function record(analytics: Analytics) {
    const outcomes: Record<string, unknown> = {};
    const errors: unknown[] = [];
    const delivered: string[] = [];
    analytics.on('error', ({ code, reason }) => errors.push([code, reason]));
    analytics.on('track', ({ event }) => delivered.push((event as { event: string }).event));
    for (const [event, levels] of Object.entries({ One: 1, Two: 150, Three: 1 })) {
      const properties = nested(levels) as Record<string, unknown>;
      analytics.track({ userId: 'u1', event, properties }, (error) => void (outcomes[event] = error));
    }
    await analytics.closeAndFlush();
    return { outcomes, errors, delivered };
  }

  it('fail with the rule that they break; the others are delivered', async () => {
    const { relay, host } = await startRelayApp(afterwards, new ExpressAdapter(), {
      options: { queue: memoryQueue() },
    });
    const { outcomes, errors, delivered } = await record(new Analytics({ writeKey: 'wk_shop', host }));
    expect(outcomes).toEqual({ One: undefined, Two: expect.any(ValidationError), Three: undefined });
    expect(outcomes.Two).toMatchObject({ field: 'message', code: 'message_too_deep' });
    expect(errors).toEqual([['delivery_failure', outcomes.Two]]);
    expect(delivered).toEqual(['One', 'Three']);
    expect(await relay.deliveries()).toHaveLength(2);
  });

  it('fail beyond the first 100 as well, which the receiver does not explain', async () => {
    const { relay, host } = await startRelayApp(afterwards, new ExpressAdapter(), {
      options: { queue: memoryQueue() },
    });
    const analytics = new Analytics({ writeKey: 'wk_shop', host, flushAt: 152 });
    const errors: unknown[] = [];
    analytics.on('error', ({ reason }) => errors.push((reason as ValidationError).code));
    analytics.track({ userId: 'u1', event: 'Kept' });
    for (let count = 0; count < 150; count++) {
      analytics.track({ userId: 'u1', event: 'Refused', properties: nested(101) });
    }
    analytics.track({ userId: 'u1', event: 'Kept' });
    await analytics.closeAndFlush();
    expect(errors).toEqual([
      ...Array<string>(100).fill('message_too_deep'),
      ...Array<string>(50).fill('message_rejected'),
    ]);
    expect(await relay.deliveries()).toHaveLength(2);
  });

  it('fail where the rest of the answer cannot be read', async () => {
    const body = '{"rejected":[{"index":1,"field":"x","code":"y","message":"z"}],"moreRejected":7}';
    const response: HTTPResponse = { status: 200, statusText: 'OK', text: () => Promise.resolve(body) };
    const { outcomes, delivered } = await record(
      create({ httpClient: { makeRequest: () => Promise.resolve(response) } }),
    );
    expect(outcomes.Two).toMatchObject({ field: 'x', code: 'y' });
    expect(delivered).toEqual(['One', 'Three']);
  });

  it.each([
    '{"rejected":',
    '{"rejected":7}',
    '{"rejected":[],"moreRejected":7}',
    '{"rejected":[],"moreRejected":["1",9]}',
    '{"rejected":[null,{"index":"1"},{"index":1,"field":"x","code":"y"},{"index":9,"field":"x","code":"y","message":"z"}]}',
  ])('are none where the answer is %s', async (body) => {
    const response: HTTPResponse = { status: 200, statusText: 'OK', text: () => Promise.resolve(body) };
    const { errors, delivered } = await record(
      create({ httpClient: { makeRequest: () => Promise.resolve(response) } }),
    );
    expect({ errors, delivered }).toEqual({ errors: [], delivered: ['One', 'Two', 'Three'] });
  });
});
