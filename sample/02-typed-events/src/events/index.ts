import { CouponUsed } from './coupon-used.event.js';
import { OrderCompleted } from './order-completed.event.js';

export { CouponUsed, OrderCompleted };

/** What is checked at run time. */
export const events = [OrderCompleted, CouponUsed];

/** What is checked by the compiler. */
declare module 'nestjs-analytics-relay' {
  interface TrackingPlan {
    'Order Completed': OrderCompleted;
    'Coupon Used': typeof CouponUsed;
  }
}
