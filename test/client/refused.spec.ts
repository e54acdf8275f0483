import { ExpressAdapter } from '@nestjs/platform-express';
import { memoryQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { startRelayApp } from '../support/relay.app.js';
import { collect, create, event, tracked } from './support/harness.js';

const KEY = 'wk_of_nobody';

describe('The error of a batch that is refused', () => {
  const afterwards = useCleanUps();

  /** Returns the message of the error, and the warning, if a receiver answers 401 with a body. */
  async function refuse(body: string) {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    afterwards(() => warn.mockRestore());
    const collector = await collect({ status: 401, body });
    const analytics = create({ host: collector.url, writeKey: KEY });
    const outcome = tracked(analytics);
    analytics.track(event());
    await analytics.flush();
    return { message: ((await outcome).err as Error).message, warning: String(warn.mock.calls[0]![0]) };
  }

  it('has the reason and the code that the relay answers', async () => {
    const { host } = await startRelayApp(afterwards, new ExpressAdapter(), { options: { queue: memoryQueue() } });
    const analytics = create({ host, writeKey: KEY });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toMatchObject({
      code: 'http_status',
      message: '[401] Unauthorized: no source has this write key (write_key_unknown)',
    });
  });

  it('has them in the warning, in one line', async () => {
    const { message, warning } = await refuse('{"code":"too_many","message":"wait\\na moment"}');
    expect(message).toBe('[401] Unauthorized: wait\na moment (too_many)');
    expect(warning).toContain('([401] Unauthorized: wait\\na moment (too_many)). Set writeKey');
  });

  it('has at most 300 characters of the reason', async () => {
    const { message } = await refuse(JSON.stringify({ code: 'long', message: 'x'.repeat(301) }));
    expect(message).toBe(`[401] Unauthorized: ${'x'.repeat(299)}… (long)`);
  });

  it.each([KEY, Buffer.from(`${KEY}:`).toString('base64')])(
    'has no reason that quotes the write key (%s)',
    async (key) => {
      const { message, warning } = await refuse(JSON.stringify({ code: 'unknown', message: `${key} is unknown` }));
      expect(message).toBe('[401] Unauthorized: unknown');
      expect(warning).not.toContain(key);
    },
  );

  it.each([
    '<html>Unauthorized</html>',
    'null',
    '{"code":401,"message":"no"}',
    '{"code":"unknown"}',
    '{"message":"no"}',
    '{"code":"Not a code","message":"no"}',
  ])('has neither if the answer is %s', async (body) => {
    expect((await refuse(body)).message).toBe('[401] Unauthorized');
  });
});
