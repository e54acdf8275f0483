import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver, sequence, status } from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe('A receiver that asks for a pause with Retry-After', () => {
  const cleanUp = useCleanUps();

  /** @param answer how it answers until `recover` is called */
  async function start(answer: [code: number, retryAfter: string], delivery: object) {
    let isUp = false;
    const [code, retryAfter] = answer;
    const receiver = await ScriptedReceiver.start((...request) =>
      (isUp ? status(200) : status(code, { 'Retry-After': retryAfter }))(...request),
    );
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({ destinations: [{ urls: [receiver.url] }], delivery });
    cleanUp(() => relay.stop());
    return { receiver, relay, recover: () => (isUp = true) };
  }

  // With the second concurrency, the circuit opens, whose probes are held back too.
  it.each([
    [429, 2],
    [503, 16],
  ])('by %d gets no request until then, of %d deliveries at once', async (code, concurrency) => {
    const delivery = { concurrency, initialRetryDelay: 50, maxRetryDelay: 50 };
    const { receiver, relay, recover } = await start([code, '2'], delivery);
    await relay.track(...ids('first', 50));
    await relay.settled('retry');
    const { at } = receiver.webhooks[0]!;
    await relay.track(...ids('later', 50));
    await waitFor(() => Date.now() > at + 1_500);
    await relay.track(...ids('last', 50));
    expect(receiver.webhooks.length).toBeLessThanOrEqual(concurrency);
    const { length: before } = receiver.webhooks;
    recover();
    await relay.settled('delivered', 150);
    expect(receiver.webhooks[before]!.at - at).toBeGreaterThanOrEqual(1_990);
    expect(relay.log.matching(/asked for no requests until/)).toHaveLength(1);
  });

  it('gets none of the requests that wait for a connection', async () => {
    const delivery = { concurrency: 16, maxSockets: 1, initialRetryDelay: 50, maxRetryDelay: 50 };
    const { receiver, relay, recover } = await start([429, '1'], delivery);
    await relay.track(...ids('m', 16));
    await relay.settled('retry');
    recover();
    await relay.settled('delivered', 16);
    const [first, second] = receiver.webhooks;
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(990);
    expect(receiver.webhooks).toHaveLength(17);
  });

  it('for a year is tried again by the last attempt of the delivery', async () => {
    const delivery = { concurrency: 1, retryWindow: 1_000, initialRetryDelay: 50 };
    const { receiver, relay, recover } = await start([503, String(365 * 86_400)], delivery);
    await relay.track(...ids('m', 10));
    await relay.settled('retry');
    recover();
    await relay.settled('delivered', 10);
    const [first, second] = receiver.webhooks;
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(800);
  });

  it('does not delay what another URL may take earlier', async () => {
    const [busy, failing] = [
      await ScriptedReceiver.start(status(429, { 'Retry-After': '60' })),
      await ScriptedReceiver.start(sequence(status(503), status(200))),
    ];
    cleanUp(() => busy.stop());
    cleanUp(() => failing.stop());
    const relay = await Relay.start({
      destinations: [{ urls: [busy.url, failing.url] }],
      delivery: { initialRetryDelay: 50 },
    });
    cleanUp(() => relay.stop());
    await relay.track('m1');
    await relay.settled('retry');
    await relay.track('m2');
    await relay.settled('delivered', 2);
  });
});
