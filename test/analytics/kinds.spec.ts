import { Injectable } from '@nestjs/common';
import { Alias, type CallContext, Group, Identify, Page, Screen, Track } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { startProvider } from './support/recorded.provider.js';

const id = ({ args: [first] }: CallContext) => first as string;
const traits = { plan: 'pro' };
const common = {
  context: { device: { type: 'kiosk' } },
  timestamp: '2024-05-06T07:08:09.000Z',
  integrations: { Slow: false },
};

@Injectable()
class Values {
  @Identify({ userId: 'u1', traits, ...common })
  identify(): void {}

  @Track('Ordered', { userId: 'u1', groupId: 'g1', properties: { total: 1 }, ...common })
  track(): void {}

  @Page('Pricing', { anonymousId: 'a1', category: 'Shop', properties: { variant: 'b' }, ...common })
  page(): void {}

  @Screen('Basket', { anonymousId: 'a1', category: 'Shop', properties: { variant: 'b' }, ...common })
  screen(): void {}

  @Group({ userId: 'u1', groupId: 'g1', traits, ...common })
  group(): void {}

  @Alias({ userId: 'u1', previousId: 'a1', ...common })
  alias(): void {}
}

@Injectable()
class Functions {
  @Identify({ userId: id, traits: ({ result }) => ({ result }) })
  identify(_id: string): string {
    return 'identified';
  }

  @Track('Ordered', { anonymousId: id, context: () => ({ locale: 'de' }), integrations: () => ({ All: false }) })
  track(_id: string): void {}

  @Page(({ result }) => result as string, { userId: id, category: () => 'Shop', properties: () => ({ variant: 'b' }) })
  page(_id: string): string {
    return 'Pricing';
  }

  @Screen(() => undefined, { userId: id })
  screen(_id: string): void {}

  @Group({ userId: id, groupId: () => 'g1', traits: () => traits, timestamp: () => new Date(0) })
  group(_id: string): void {}

  @Alias({ userId: id, previousId: ({ target }) => target.constructor.name })
  alias(_id: string): void {}

  @Identify<Functions['typed']>({
    userId: ({ args: [user] }) => user.name,
    traits: ({ result }) => ({ last: result * 2 }),
  })
  async *typed(user: { name: string }) {
    await Promise.resolve();
    yield user.name.length;
  }

  @Page()
  @Identify()
  @Group()
  @Alias()
  withoutOptions(): string {
    return 'fine';
  }
}

const library = expect.objectContaining({ name: 'nestjs-analytics-relay' });
const context = { device: { type: 'kiosk' }, library };
const { timestamp, integrations } = common;

describe('The decorator of each kind of message', () => {
  const afterwards = useCleanUps();

  it('records it with fields that are values', async () => {
    const { target, events } = await startProvider(afterwards, Values);
    for (const method of ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const) target[method]();
    const properties = { variant: 'b' };
    expect(await events()).toEqual(
      [
        { type: 'identify', userId: 'u1', traits },
        { type: 'track', userId: 'u1', event: 'Ordered', properties: { total: 1 }, context: { groupId: 'g1' } },
        {
          type: 'page',
          anonymousId: 'a1',
          name: 'Pricing',
          category: 'Shop',
          properties: { ...properties, category: 'Shop' },
        },
        { type: 'screen', anonymousId: 'a1', name: 'Basket', category: 'Shop', properties },
        { type: 'group', userId: 'u1', groupId: 'g1', traits },
        { type: 'alias', userId: 'u1', previousId: 'a1' },
      ].map((message) => ({
        ...message,
        timestamp,
        integrations,
        context: { ...context, ...message.context },
        messageId: expect.any(String),
        _metadata: expect.anything(),
      })),
    );
  });

  it('records it with fields that are told from the call', async () => {
    const { target, events } = await startProvider(afterwards, Functions);
    for (const method of ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const) target[method]('u7');
    expect(await events()).toMatchObject([
      { type: 'identify', userId: 'u7', traits: { result: 'identified' } },
      { type: 'track', anonymousId: 'u7', context: { locale: 'de' }, integrations: { All: false } },
      { type: 'page', userId: 'u7', name: 'Pricing', category: 'Shop', properties: { variant: 'b' } },
      { type: 'screen', userId: 'u7', properties: {} },
      { type: 'group', userId: 'u7', groupId: 'g1', traits, timestamp: '1970-01-01T00:00:00.000Z' },
      { type: 'alias', userId: 'u7', previousId: 'Functions' },
    ]);
  });

  it("knows the method's arguments and result by its type", async () => {
    const { target, events } = await startProvider(afterwards, Functions);
    for await (const length of target.typed({ name: 'Ada' })) expect(length).toBe(3);
    expect(await events()).toMatchObject([{ type: 'identify', userId: 'Ada', traits: { last: 6 } }]);
  });

  it('logs each fault once as a warning, and lets the call through', async () => {
    const { target, events, log } = await startProvider(afterwards, Functions);
    for (let call = 0; call < 3; call++) expect(target.withoutOptions()).toBe('fine');
    expect(await events()).toEqual([]);
    expect(log.matching(/^warn/)).toEqual([
      'warn Functions.withoutOptions was not recorded: userId must be a non-empty string',
      'warn Functions.withoutOptions was not recorded: at least one of userId and anonymousId must be a non-empty string',
    ]);
  });
});
