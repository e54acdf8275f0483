// Follows the plan: compiles.
import { Identify, Track, type Analytics, type AnalyticsService } from 'nestjs-analytics-relay';

import { CouponUsed, OrderCompleted, Rated, Refunded, Shipped } from './plan.js';

export class Shop {
  constructor(private readonly analytics: AnalyticsService) {}

  @Track<Shop['checkout']>('Order Completed', {
    userId: ({ args: [userId] }) => userId,
    properties: ({ result }) => ({ orderId: result.id, revenue: result.total }),
  })
  checkout(_userId: string): Promise<{ id: string; total: number }> {
    return Promise.resolve({ id: 'o', total: 1 });
  }

  @Track('Coupon Used', { userId: 'u', properties: { code: 'SPRING', percent: 5 } })
  @Track('Shop Opened', { userId: 'u' })
  @Track('Shop Opened')
  @Track(CouponUsed, { userId: 'u', properties: { code: 'SPRING' } })
  redeem(): void {
    this.analytics.track({ userId: 'u', event: 'Order Completed', properties: { orderId: 'o', revenue: 1 } });
    this.analytics.track({ anonymousId: 'a', event: 'Coupon Used', properties: { code: 'c' } }, (err) => err);
    this.analytics.track({ userId: 'u', event: 'Shop Opened', context: { ip: '::1' } });
    this.analytics.trackEvent(Object.assign(new OrderCompleted(), { orderId: 'o' }), { userId: 'u' });
    this.analytics.trackEvent(new CouponUsed({ code: 'c' }), { userId: 'u', timestamp: new Date() });
  }

  @Identify<Shop['signUp']>({
    userId: ({ args: [user] }) => user.id,
    anonymousId: ({ request }) => request?.visitor as bigint | null,
    traits: ({ args: [user] }) => user.traits,
  })
  signUp(_user: { id: number; traits: Record<string, unknown> }): void {
    this.analytics.trackEvent(new Refunded({ orderId: 'o', amount: 1 }), { userId: 'u' });
    this.analytics.trackEvent(new Shipped({ parcel: 'p' }), { userId: 'u' });
    this.analytics.trackEvent(new Rated({ stars: '5' }), { userId: 'u' });
    this.analytics.track({ userId: 'u', event: 'Refunded', properties: { orderId: 'o', amount: 1 } });
    this.analytics.track({ userId: 'u', event: 'Refund Asked', properties: { orderId: 'o', amount: 1 } });
  }

  @Track<Shop['refund'], OrderCompleted>(OrderCompleted, {
    properties: ({ result, args: [orderId] }) => Object.assign(new OrderCompleted(), { orderId, revenue: -result }),
  })
  refund(_orderId: string): number {
    return 1;
  }

  /** The service is an `Analytics` for code that knows no plan. */
  plain(): Analytics {
    return this.analytics as Analytics;
  }
}
