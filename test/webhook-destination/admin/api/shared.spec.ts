import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';

import { useCleanUps } from '../../../support/clean-ups.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { readStream, startApi, track } from './support.js';

jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`Two applications on one ${store.name}`, () => {
    const cleanUp = useCleanUps();

    const create = () => {
      const { options, remove } = store.create();
      cleanUp(remove);
      const start = () => startApi(cleanUp, new ExpressAdapter(), { options: { queue: bullmqQueue(options) } });
      return { start, options };
    };

    it('see what happens in both, and how much is left out', async () => {
      const { start } = create();
      const [watched, other] = [await start(), await start()];
      const { events } = await readStream(await watched.ask('GET', 'events?kind=message'));
      expect(events[0]).toMatchObject({ name: 'hello', data: { scope: 'queue' } });
      const shown = () => events.filter(({ name }) => name === 'message').map(({ data }) => data.messageId as string);
      let sent = 0;
      await waitFor(async () => {
        await other.relay.accept('wk_shop', [track(`other-${sent++}`)]);
        return shown().length > 0;
      });
      await watched.relay.accept('wk_shop', [track('own')]);
      await waitFor(() => shown().includes('own'));
      expect(shown().filter((id) => id === 'own')).toHaveLength(1);

      const many = Array.from({ length: 500 }, (_, index) => track(`many-${index}`));
      await other.relay.accept('wk_shop', many);
      const missed = () =>
        events.reduce((sum, { name, data }) => sum + (name === 'missed' ? (data.count as number) : 0), 0);
      // What is left out may be outcomes as well, which this reader does not want.
      await waitFor(() => shown().filter((id) => id.startsWith('many')).length + missed() >= many.length);
      expect(missed()).toBeGreaterThan(0);
    });

    it('add up their figures, which outlive them', async () => {
      const { start } = create();
      const first = await start();
      await first.relay.accept('wk_shop', [track('m1')]);
      await first.app.close();
      const second = await start();
      await second.relay.accept('wk_shop', [track('m2')]);
      const { points } = await second.get('timeseries?metric=accepted');
      expect(points.reduce((sum, { accepted }) => sum + accepted!, 0)).toBe(2);
      expect(await second.get('sources/shop?figures=true')).toMatchObject({ figures: { accepted: 2 } });
    });
  });
});
