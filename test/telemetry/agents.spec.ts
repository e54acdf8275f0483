import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const run = promisify(execFile);

const MESSAGES = 3;

/** What `instrumented.app.mjs` prints. */
interface Result {
  spans: { name: string; url?: string }[];
  contexts: unknown[];
}

const afterwards = useCleanUps();

/** Runs an application under an agent; the receiver refuses two of its webhooks, which are sent again. */
async function runUnder(agent: string, options: object = {}) {
  const receiver = await Receiver.start();
  afterwards(() => receiver.stop());
  receiver.statuses = [503, 503, 200];
  const control = await Receiver.start();
  afterwards(() => control.stop());
  const argument = JSON.stringify({
    agent,
    url: receiver.url,
    control: control.url,
    messages: MESSAGES,
    ...options,
  });
  const { stdout } = await run(process.execPath, ['test/apps/instrumented.app.mjs', argument]);
  return { receiver, control, ...(JSON.parse(stdout) as Result) };
}

const namesOf = ({ webhooks }: Receiver) =>
  new Set(webhooks.flatMap(({ headers }) => Object.keys(headers)).filter((name) => !name.startsWith('x-')));

describe('what a tracing agent adds to webhooks', () => {
  const own = new Set(['host', 'connection', 'content-type', 'content-length', 'user-agent']);

  it.each(['opentelemetry', 'sentry'])('%s: no header and no span, at first and at a retry', async (agent) => {
    const { receiver, control, spans } = await runUnder(agent);

    expect(receiver.webhooks).toHaveLength(MESSAGES + 2);
    expect(namesOf(receiver)).toEqual(own);
    expect(spans.filter(({ url }) => url === receiver.url)).toEqual([]);
    // It does observe the application's other requests, by fetch and by node:http.
    const traced = control.webhooks.map(({ headers }) => 'traceparent' in headers || 'sentry-trace' in headers);
    expect(traced).toEqual([true, true]);
  });

  it.each(['http', 'fetch', 'axios'])('none by the transport %s under OpenTelemetry', async (transport) => {
    const { receiver, spans } = await runUnder('opentelemetry', { transport });

    expect([...namesOf(receiver)].filter((name) => /trace|baggage/.test(name))).toEqual([]);
    expect(spans.filter(({ url }) => url === receiver.url)).toEqual([]);
  });
});

describe('the async context of a delivery', () => {
  it.each(['memory', 'sqlite'])(
    'is not that of the request that accepted the message, nor of the one that started the application: %s',
    async (queue) => {
      const folder = await temporaryFolder(afterwards);
      const database = queue === 'sqlite' ? folder.path('relay.db') : undefined;

      const { contexts } = await runUnder('none', { database });

      expect(contexts).toEqual(Array.from({ length: MESSAGES + 2 }, () => null));
    },
  );
});
