import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { Test } from '@nestjs/testing';
import { AnalyticsModule, AnalyticsService } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { LogLines, Relay } from '../support/relay.js';
import { waitFor } from '../support/wait-for.js';

/** What ends a line, moves the cursor, turns the text round or is not seen: C0, DEL, C1, marks, separators, tags. */
const NASTY = '\n\r\t\x1b[2J\x7f\x85\x9b31m\u061c\u200b\u200e\u200f\u202a\u202e\u2066\u2069\u2028\u2029\ufeff\u{e0041}';
const ESCAPED =
  '\\n\\r\\t\\u001b[2J\\u007f\\u0085\\u009b31m\\u061c\\u200b\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069\\u2028\\u2029\\ufeff\\u{e0041}';

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

describe('A line of the log is one line', () => {
  const cleanUp = useCleanUps();

  it('whatever ids and names are in it', async () => {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    receiver.statuses = [400];
    const relay = await Relay.start({ destinations: [{ name: `CRM ${NASTY}`, urls: [receiver.url] }] });
    cleanUp(() => relay.stop());
    await relay.track(`id ${NASTY}`);
    await relay.settled('dead');
    expect(relay.log.matching(/^error Message/)).toEqual([
      expect.stringContaining(`Message "id ${ESCAPED}" to CRM ${ESCAPED}, attempt 1 failed (`),
    ]);
    expect(relay.log.matching(UNPRINTABLE)).toEqual([]);
  });

  it('whatever a server answers', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () =>
        socket.end('HTTP/1.1 400 Bad\x85\x9b31m Request\r\nContent-Length: 0\r\n\r\n', 'latin1'),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp(() => server.close());
    const log = new LogLines();
    const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const testing = await Test.createTestingModule({ imports: [AnalyticsModule.forRoot({ writeKey: 'wk', host })] })
      .setLogger(log)
      .compile();
    await testing.init();
    cleanUp(() => testing.close());
    testing.get(AnalyticsService).track({ userId: 'u1', event: 'Ordered' });
    await testing.get(AnalyticsService).flush();
    const lines = () => log.matching(/not delivered/);
    await waitFor(
      () => lines().length > 0,
      () => 'a line that says what was not delivered',
    );
    expect(lines()).toEqual([`error Events not delivered to ${host}: 1 ([400] Bad\\u0085\\u009b31m Request)`]);
  });
});
