import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import { AnalyticsContext, AnalyticsService, Track, TrackedEvent, ValidationError } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { startProvider } from './support/recorded.provider.js';

/** An entity that hides a field in JSON. */
class User {
  readonly passwordHash = 'secret';
  constructor(readonly name: string) {}
  toJSON() {
    return { name: this.name };
  }
}

@TrackedEvent('Signed Up')
class SignedUp {
  @IsString()
  name!: string;
}

const user = new User('Ada');

@Injectable()
class Accounts {
  constructor(private readonly analytics: AnalyticsService) {}

  @Track('Found', { userId: 'u1', context: () => user, properties: () => ({ ...{ user } }) })
  find(): void {}

  @Track(SignedUp, { userId: 'u1', properties: () => user })
  signUp(): void {}

  call(): void {
    this.analytics.track({ userId: 'u1', event: 'Called', context: user, properties: user });
  }

  page(): void {
    this.analytics.page({ userId: 'u1', category: 'c', properties: user });
  }

  scoped(): void {
    AnalyticsContext.run({ context: user }, () => {
      AnalyticsContext.set({ context: user });
      this.analytics.track({ userId: 'u1', event: 'Scoped' });
    });
  }
}

describe('Fields that a toJSON hides are not sent', () => {
  const afterwards = useCleanUps();

  it.each<[keyof Accounts, object]>([
    ['find', { context: { name: 'Ada' }, properties: { user: { name: 'Ada' } } }],
    ['signUp', { properties: { name: 'Ada' } }],
    ['call', { context: { name: 'Ada' }, properties: { name: 'Ada' } }],
    ['page', { properties: { name: 'Ada', category: 'c' } }],
    ['scoped', { context: { name: 'Ada' } }],
  ])('in an event recorded by %s', async (method, expected) => {
    const { target, events } = await startProvider(afterwards, Accounts);
    target[method]();
    const recorded = await events();
    expect(recorded).toMatchObject([expected]);
    expect(JSON.stringify(recorded)).not.toContain('secret');
  });

  const unreadable = {
    get userId(): string {
      throw new TypeError('not loaded');
    },
  };

  it.each<[string, (analytics: AnalyticsService) => void]>([
    ['track', (analytics) => analytics.track(Object.assign(unreadable, { event: 'Ordered' }))],
    ['trackEvent', (analytics) => analytics.trackEvent(Object.assign(new SignedUp(), { name: 'Ada' }), unreadable)],
    ['alias', (analytics) => analytics.alias(Object.assign(unreadable, { previousId: 'a1' }))],
  ])('%s throws a ValidationError that names a field which cannot be read', async (_method, record) => {
    const { analytics } = await startProvider(afterwards, Accounts);
    const refusal = { code: 'message_unreadable', message: 'userId cannot be read: not loaded' };
    expect(() => record(analytics)).toThrow(ValidationError);
    expect(() => record(analytics)).toThrow(expect.objectContaining(refusal));
  });

  it('an event whose data cannot be read is one log line that names the field', async () => {
    const { analytics, events, log } = await startProvider(afterwards, Accounts);
    analytics.track({ userId: 'u1', event: 'Ordered', properties: { total: 1n } });
    expect(await events()).toEqual([]);
    expect(log.lines.filter((line) => line.includes('properties.total must not be a BigInt'))).toHaveLength(1);
  });
});
