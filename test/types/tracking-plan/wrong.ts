// Breaks the plan, once in each statement.
import { Track, type AnalyticsService } from 'nestjs-analytics-relay';

import { CouponUsed, OrderCompleted } from './plan.js';

declare const analytics: AnalyticsService;
const userId = 'u';
type Checkout = (userId: string) => Promise<{ id: string; total: number }>;

// An event's name
analytics.track({ userId, event: 'Order Complete', properties: { orderId: 'o', revenue: 1 } });
export const a = Track('Order Complete', { userId });
export const b = Track<Checkout>('Order Complete', { properties: ({ result }) => ({ orderId: result.id }) });

// A property's type
analytics.track({ userId, event: 'Order Completed', properties: { orderId: 5, revenue: 1 } });
analytics.trackEvent(new CouponUsed({ code: 5 }), { userId });
export const c = Track('Coupon Used', { properties: { code: 5 } });
export const d = Track<Checkout>('Order Completed', {
  properties: ({ result }) => ({ orderId: result.total, revenue: result.total }),
});
export const e = Track(CouponUsed, { properties: () => ({ code: 5 }) });
export const f = Track<Checkout, OrderCompleted>(OrderCompleted, {
  properties: ({ result }) => ({ orderId: result.id, revenue: result.id, inCents: 1 }),
});

// A property that is not there, or belongs to another event
analytics.track({ userId, event: 'Order Completed', properties: { orderId: 'o' } });
analytics.track({ anonymousId: 'a', event: 'Order Completed' });
analytics.track({ userId, event: 'Coupon Used', properties: { orderId: 'o', revenue: 1 } });
export const g = Track('Order Completed', { userId });

// Nobody
analytics.trackEvent(new CouponUsed({ code: 'c' }), { userId: 1 });
