import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { post } from '../../support/post.js';
import { Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';

describe('What a destination gets of messages that were posted', () => {
  const cleanUp = useCleanUps();

  it('is selected by `events` and `integration`', async () => {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    const urls = (path: string) => [`${receiver.url}/${path}`];
    const relay = await Relay.start({
      destinations: [
        { name: 'customer-1', integration: 'Webhooks', urls: urls('1'), events: ['Bestellung *', '!* angesehen'] },
        { name: 'customer-2', integration: 'Webhooks', urls: urls('2'), events: ['!Bestellung "ü" ab*'] },
        { name: 'archive', urls: urls('archive') },
      ],
    });
    cleanUp(() => relay.stop());
    await relay.app.listen(0, '127.0.0.1');

    const track = (event: string, integrations?: object) => ({ type: 'track', userId: 'u1', event, integrations });
    const batch = [
      track('Bestellung bezahlt'),
      track('Bestellung angesehen'),
      track('Bestellung "ü" abgeschickt'),
      track('Anmeldung', { Webhooks: false }),
      { type: 'page', userId: 'u1', name: 'Bestellung angesehen' },
    ];
    // Escaped and with white space, so that it is parsed; and as JavaScript writes it, so that it is scanned.
    for (const body of [JSON.stringify({ batch }, null, 1), JSON.stringify({ batch })]) {
      const before = receiver.webhooks.length;
      const response = await post(`${await relay.app.getUrl()}/v1/batch`, body);
      expect(response.status).toBe(200);
      await receiver.received(before + 11);
      await relay.settled('delivered', before + 11);
      const got = (path: string) =>
        receiver.webhooks
          .slice(before)
          .filter((webhook) => webhook.path === `/hook/${path}`)
          .map(({ body: { event, type } }) => event ?? type)
          .sort();
      expect(got('1')).toEqual(['Bestellung "ü" abgeschickt', 'Bestellung bezahlt', 'page']);
      expect(got('2')).toEqual(['Bestellung angesehen', 'Bestellung bezahlt', 'page']);
      expect(got('archive')).toHaveLength(5);
    }
  });
});
