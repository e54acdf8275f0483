import {
  type BodyTransform,
  signBody,
  type TransformedMessage,
  verifyStandardWebhook,
  type WebhookDestinationModuleOptions,
} from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { type Script, ScriptedReceiver, sequence, status } from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';

const SECRET = 'a secret of 24 bytes ...';

describe('The transform of a destination', () => {
  const cleanUp = useCleanUps();
  afterEach(() => void vi.restoreAllMocks());

  async function start(
    transform: unknown,
    script: Script = status(200),
    delivery: WebhookDestinationModuleOptions['delivery'] = {},
  ) {
    const receiver = await ScriptedReceiver.start(script);
    cleanUp(() => receiver.stop());
    const destination = { urls: [receiver.url], sharedSecret: SECRET, transform: transform as BodyTransform };
    const relay = await Relay.start({ destinations: [destination], delivery });
    cleanUp(() => relay.stop());
    return { relay, receiver };
  }

  it('makes the body that is signed and sent; the accepted one stays in the queue', async () => {
    const { relay, receiver } = await start(({ event, userId, ...others }: Record<string, unknown>) => ({
      text: `${String(userId)}: ${String(event)} é€`,
      names: Object.keys(others),
    }));
    await relay.track('m1');
    await relay.settled('delivered');
    const [{ raw, headers, body } = receiver.webhooks[0]!] = receiver.webhooks;
    expect(body).toEqual({ text: 'u1: Ordered é€', names: ['version', 'type', 'timestamp'] });
    expect(headers['content-length']).toBe(String(raw.length));
    expect(headers['x-signature']).toBe(signBody(raw, SECRET));
    expect(verifyStandardWebhook(raw, headers, SECRET)).toBe(true);
    const [{ body: stored } = { body: '' }] = await relay.service.deliveries();
    expect(JSON.parse(stored)).toMatchObject({ version: 1, type: 'track', userId: 'u1', event: 'Ordered' });
  });

  it('is told which message it is, also of a deletion', async () => {
    const messages: TransformedMessage[] = [];
    const { relay } = await start((body: object, message: TransformedMessage) => {
      messages.push(message);
      return body;
    });
    await relay.track('m1');
    await relay.service.accept('wk_shop', [{ type: 'alias', userId: 'u2', previousId: 'u1', messageId: 'm2' }]);
    await relay.settled('delivered', 2);
    await relay.service.requestDeletion({ userId: 'u3' });
    await relay.settled('delivered', 3);
    const common = { source: 'shop', destination: 'Webhooks' };
    expect(messages).toEqual([
      { type: 'track', event: 'Ordered', userId: 'u1', messageId: 'm1', ...common },
      { type: 'alias', event: undefined, userId: 'u2', messageId: 'm2', ...common },
      { type: 'delete', event: undefined, userId: 'u3', messageId: expect.any(String), ...common },
    ]);
  });

  it('may change the body in its place; each attempt begins with the accepted one', async () => {
    const { relay, receiver } = await start(
      (body: Record<string, unknown>) => {
        body.count = Number(body.count ?? 0) + 1;
        return body;
      },
      sequence(status(503), status(503), status(200)),
      { initialRetryDelay: 10, maxRetryDelay: 10 },
    );
    await relay.track('m1');
    await relay.settled('delivered');
    expect(receiver.webhooks.map(({ body }) => body.count)).toEqual([1, 1, 1]);
  });

  it('sends nothing where it returns undefined, and the delivery counts as delivered', async () => {
    const { relay, receiver } = await start((body: object, { messageId }: TransformedMessage) =>
      messageId === 'm1' ? undefined : body,
    );
    await relay.track('m1', 'm2');
    await relay.settled('delivered', 2);
    expect(receiver.webhooks.map(({ headers }) => headers['x-message-id'])).toEqual(['m2']);
    expect(relay.events.find(({ messageId }) => messageId === 'm1')).toMatchObject({ attempt: 1, results: [] });
    const [dropped] = await relay.service.deliveries({ messageId: 'm1' });
    expect(dropped).toMatchObject({ state: 'delivered', attempts: [{ startedAt: expect.any(Number), results: [] }] });
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;

  it.each<[what: string, transform: () => unknown, reason: string]>([
    [
      'throws',
      () => {
        throw new Error('no such field');
      },
      'no such field',
    ],
    [
      'throws text',
      () => {
        throw 'no such field' as unknown as Error;
      },
      'no such field',
    ],
    [
      'throws what has no text',
      () => {
        throw Object.create(null);
      },
      'unknown error',
    ],
    [
      'throws what a line and a database cannot hold',
      () => {
        throw new Error('a\0\n\ud800');
      },
      'a\\u0000\\n\\ud800',
    ],
    [
      'throws at length',
      () => {
        throw new Error('x'.repeat(10_000));
      },
      `${'x'.repeat(999)}…`,
    ],
    ['returns a promise', () => Promise.resolve({}), 'it must be synchronous, but returned a promise'],
    ['rejects', () => Promise.reject(new Error('later')), 'it must be synchronous, but returned a promise'],
    ['returns a BigInt in it', () => ({ amount: 1n }), 'Do not know how to serialize a BigInt'],
    ['returns a circle', () => circular, expect.stringContaining('circular')],
    ['returns null', () => null, 'it must return a JSON-serializable object, or undefined'],
    ['returns text', () => 'body', 'it must return a JSON-serializable object, or undefined'],
    ['returns a function', () => () => undefined, 'it must return a JSON-serializable object, or undefined'],
    [
      'returns what stringifies to nothing',
      () => ({ toJSON: () => undefined }),
      'it must return a JSON-serializable object, or undefined',
    ],
  ])('that %s makes the delivery dead, with the reason', async (_what, transform, reason) => {
    const { relay, receiver } = await start(transform);
    await relay.track('m1');
    await relay.settled('dead');
    const [dead] = await relay.service.deliveries();
    expect(dead).toMatchObject({ state: 'dead', attempts: [] });
    const prefix = 'transform failed: ';
    expect(dead!.reason).toMatch(prefix);
    expect(dead!.reason!.slice(prefix.length)).toEqual(reason);
    expect(receiver.webhooks).toEqual([]);
  });

  it('shows in a test what it throws', async () => {
    const { relay, receiver } = await start(() => {
      throw new Error('no such field');
    });
    const { results } = await relay.service.destinations.test('Webhooks');
    const error = 'transform failed: no such field';
    expect(results).toEqual([{ url: receiver.url, outcome: 'permanent', error, duration: 0 }]);
    expect(receiver.webhooks).toEqual([]);
  });

  it('that was mended takes part in a replay', async () => {
    const transform = vi.fn<BodyTransform>(() => {
      throw new Error('not yet');
    });
    const { relay, receiver } = await start(transform);
    await relay.track('m1');
    await relay.settled('dead');
    transform.mockImplementation(({ event }) => ({ event }));
    expect(await relay.service.replay({ reason: 'transform failed: not yet' })).toBe(1);
    await relay.settled('delivered');
    expect(receiver.webhooks.map(({ body }) => body)).toEqual([{ event: 'Ordered' }]);
  });

  it('neither opens the circuit nor becomes its probe with a body that is not sent', async () => {
    let isUp = false;
    const { relay, receiver } = await start(
      (body: object, { messageId }: TransformedMessage) => {
        if (messageId.startsWith('wrong')) throw new Error('wrong');
        return messageId.startsWith('dropped') ? undefined : body;
      },
      (response) => void response.writeHead(isUp ? 200 : 503).end(),
      { initialRetryDelay: 50, maxRetryDelay: 100 },
    );
    await relay.track(...Array.from({ length: 30 }, (_, index) => `wrong-${index}`));
    await relay.settled('dead', 30);
    expect(relay.log.matching(/is down/)).toEqual([]);
    await relay.track(...Array.from({ length: 12 }, (_, index) => `m${index}`));
    await waitFor(() => relay.log.matching(/is down/).length > 0);
    await relay.track('wrong-again', 'dropped');
    await relay.settled('dead', 31);
    await relay.settled('delivered', 1);
    expect(relay.log.matching(/is up again/)).toEqual([]);
    isUp = true;
    await relay.settled('delivered', 13);
    expect(receiver.webhooks.filter(({ headers }) => !/^m/.test(headers['x-message-id'] as string))).toEqual([]);
  });
});
