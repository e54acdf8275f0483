import { Analytics as Segment } from '@segment/analytics-node';
import { Analytics, VERSION } from 'nestjs-analytics-relay/client';
import { describe, expect, it } from 'vitest';
import type { Received } from './support/collector.js';
import { collect } from './support/harness.js';

const timestamp = new Date('2021-02-03T04:05:06.789Z');
const context = { ip: '10.0.0.1', page: { url: 'https://shop.example/' } };
const integrations = { All: false, Webhooks: true, Other: { session: 1 } };
const messageId = 'message-1';

type Call = (analytics: Analytics) => void;

const calls: [string, Call][] = [
  ['identify', (a) => a.identify({ userId: 'u', traits: { plan: 'pro', since: new Date(0) } })],
  ['identify with nothing else', (a) => a.identify({ anonymousId: 'a' })],
  ['track', (a) => a.track({ userId: 'u', anonymousId: 'a', event: 'E', properties: { total: 9.5, tags: ['x'] } })],
  ['track with everything', (a) => a.track({ userId: 'u', event: 'E', timestamp, context, integrations, messageId })],
  ['track with a time as text', (a) => a.track({ userId: 'u', event: 'E', timestamp: '2021-02-03T04:05:06Z' })],
  ['page', (a) => a.page({ userId: 'u', category: 'C', name: 'N', properties: { url: '/' } })],
  ['page with nothing else', (a) => a.page({ userId: 'u' })],
  ['screen', (a) => a.screen({ userId: 'u', category: 'C', name: 'N', properties: { width: 3 } })],
  ['screen with nothing else', (a) => a.screen({ anonymousId: 'a' })],
  ['group', (a) => a.group({ userId: 'u', groupId: 'g', traits: { size: 3 } })],
  ['alias', (a) => a.alias({ userId: 'new', previousId: 'old' })],
];

/** What one client sends when it is answered so. */
async function requestsOf(
  Client: typeof Analytics | typeof Segment,
  call: Call,
  answers: number[],
): Promise<Received[]> {
  const collector = await collect(...answers);
  const analytics = new Client({ writeKey: 'wk_1', host: collector.url });
  call(analytics as Analytics);
  await analytics.closeAndFlush();
  return collector.requests;
}

/** Replaces what differs from call to call by what is known of it. */
function normalised({ headers, body, method, path }: Received) {
  const ours = ['user-agent', 'host', 'content-length'];
  const rest = Object.entries(headers).filter(([name]) => !ours.includes(name));
  return {
    method,
    path,
    headers: Object.fromEntries(rest),
    body: {
      ...body,
      sentAt: typeof body.sentAt,
      batch: body.batch.map((message) => {
        const { library, ...others } = message.context!;
        return {
          ...message,
          messageId: message.messageId === messageId ? messageId : typeof message.messageId,
          timestamp: message.timestamp.startsWith('2021-') ? message.timestamp : typeof message.timestamp,
          context: { ...others, library: Object.keys(library as object).sort() },
        };
      }),
    },
  };
}

/** Compares every field of every request, but for what is ours on purpose. */
async function compare(call: Call, answers: number[]): Promise<void> {
  const ours = await requestsOf(Analytics, call, answers);
  const theirs = await requestsOf(Segment, call, answers);
  expect(theirs).toHaveLength(answers.length);
  const expected = theirs.map(normalised);
  for (const message of expected.flatMap(({ body }) => body.batch)) {
    delete (message._metadata as { jsRuntime?: string }).jsRuntime; // They say twice that the runtime is Node.
  }
  expect(ours.map(normalised)).toEqual(expected);
  for (const { headers, body } of ours) {
    expect(headers['user-agent']).toBe('nestjs-analytics-relay/1.0');
    expect(body.batch[0]!.context!.library).toEqual({ name: 'nestjs-analytics-relay', version: VERSION });
  }
}

describe('the wire, next to @segment/analytics-node', () => {
  it.each(calls)('is the same for %s', (_name, call) => compare(call, [200]));

  it('is the same for a retry', () => compare(calls[0]![1], [503, 200]));
});
