import { Injectable } from '@nestjs/common';
import { AnalyticsService, Track } from 'nestjs-analytics-relay';

import { CouponUsed } from './events/index.js';

@Injectable()
export class ShopService {
  constructor(private readonly analytics: AnalyticsService) {}

  // Try it: misspell the event, leave out the currency, or give orderId a number. It does not compile.
  @Track<ShopService['checkout']>('Order Completed', {
    userId: ({ args: [userId] }) => userId,
    properties: ({ result }) => ({ orderId: result.id, revenue: result.total, currency: 'CHF' }),
  })
  checkout(_userId: string, total: number): { id: string; total: number } {
    return { id: 'order-1', total };
  }

  redeem(userId: string, code: string): void {
    this.analytics.trackEvent(new CouponUsed({ code, percent: 10 }), { userId });
  }
}
