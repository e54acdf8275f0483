// Breaks the plan, once in each statement.
import { Group, Identify, Track, type AnalyticsService } from 'nestjs-analytics-relay';

import { Asked, CouponUsed, OrderCompleted, Rated, Refunded, Shipped } from './plan.js';

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

// A schema written by hand, and one that reads another type than it takes
analytics.trackEvent(new Refunded({ orderId: 5, amount: 1 }), { userId });
analytics.trackEvent(new Shipped({ parcel: 5 }), { userId });
analytics.trackEvent(new Asked({ question: 5 }), { userId });
analytics.trackEvent(new Rated({ stars: 5 }), { userId });
analytics.track({ userId, event: 'Refund Asked', properties: { orderId: 5, amount: 1 } });

// A promise
export const h = Identify({ traits: async () => ({ plan: await Promise.resolve('pro') }) });
export const i = Group({ context: () => Promise.resolve({ ip: '::1' }) });
export const j = Track('Shop Opened', { properties: async () => ({ by: await Promise.resolve('me') }) });
export const k = Identify({ when: () => Promise.resolve(true) });
