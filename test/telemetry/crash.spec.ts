import { describe, expect, it } from '@jest/globals';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { RelayProcess } from '../support/relay.process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** A span as the application prints it. */
interface PrintedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parent?: string;
  linked: [traceId: string, spanId: string][];
  attributes: Record<string, unknown>;
}

describe('a trace that its process does not survive', () => {
  const afterwards = useCleanUps();

  it('goes on with the attempts of the next one', async () => {
    const folder = await temporaryFolder();
    afterwards(folder.remove);
    // Its connection is refused: the first process cannot deliver.
    const gone = await Receiver.start();
    const { port, url } = gone;
    await gone.stop();
    const options = { database: folder.path('relay.db'), urls: [url] };
    const first = await RelayProcess.start(options, 'traced');
    afterwards(() => first.kill());

    const answer = await fetch(`${first.host}/v1/track`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Basic ${btoa('wk_shop:')}`,
        traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({ userId: 'u1', event: 'Ordered' }),
    });
    expect(answer.status).toBe(200);
    await first.kill();

    const receiver = await Receiver.start(port);
    afterwards(() => receiver.stop());
    const second = await RelayProcess.start(options, 'traced');
    afterwards(() => second.kill());
    await receiver.received(1);
    const spansOf = (process: RelayProcess) =>
      process.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as PrintedSpan);
    await waitFor(() => spansOf(second).some(({ name }) => name === 'process Webhooks'));

    const accepted = spansOf(first).find(({ name }) => name === 'enqueue Webhooks')!;
    expect(accepted.traceId).toBe(TRACE);
    const attempt = spansOf(second).find(({ name }) => name === 'process Webhooks')!;
    expect(attempt.linked).toEqual([[TRACE, accepted.parent]]);
    expect(attempt.attributes).toMatchObject({ 'analytics_relay.delivery.state': 'delivered' });
  });
});
