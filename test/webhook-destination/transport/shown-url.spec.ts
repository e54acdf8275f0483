import { describe, expect, it } from 'vitest';

import { shownUrl } from '../../../lib/webhook-destination/transport/webhook-target.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver, status } from '../../support/scripted-receiver.js';

const TOKEN = 'aB3dE5fG7hJ9kL1mN3pQ5rS7';

describe('A URL in logs and records', () => {
  const cleanUp = useCleanUps();

  it.each([
    ['https://user:pass@receiver.example/hook?key=1', 'https://receiver.example/hook'],
    [
      `https://hooks.slack.com/services/T00000000/B00000000/${TOKEN}`,
      'https://hooks.slack.com/services/T00000000/B00000000/***',
    ],
    ['https://hooks.slack.com/services/T0/B0/XXXXXXXXXXXXXXXXXXXXXXXX/', 'https://hooks.slack.com/services/T0/B0/***/'],
    [
      'https://receiver.example/api/webhooks/123456789012345678/abc-DEF_ghi123abc',
      'https://receiver.example/api/webhooks/***/***',
    ],
    ['https://receiver.example/h/a1b2c3d4-1234-4abc-8def-0123456789ab', 'https://receiver.example/h/***'],
    ['https://receiver.example/bot123456:ABC-DEF1234ghIkl/send', 'https://receiver.example/***/send'],
    [
      'https://receiver.example/v1/order-notifications_v2.json',
      'https://receiver.example/v1/order-notifications_v2.json',
    ],
  ])('hides user info, query and tokens of %s', (url, shown) => {
    expect(shownUrl(new URL(url))).toBe(shown);
  });

  it('has its token in no record, event or log line, but in the request', async () => {
    const receiver = await ScriptedReceiver.start(status(404));
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({ destinations: [{ urls: [`${receiver.url}/${TOKEN}`] }] });
    cleanUp(() => relay.stop());
    await relay.track('m1');
    await relay.settled('dead');
    expect(receiver.webhooks[0]!.path).toBe(`/hook/${TOKEN}`);
    const deliveries = await relay.service.deliveries();
    const destinations = await relay.service.destinations.list();
    const seen = JSON.stringify([deliveries, destinations, relay.events, relay.log.lines]);
    expect(seen).toContain('/hook/***');
    expect(seen).not.toContain(TOKEN);
  });
});
