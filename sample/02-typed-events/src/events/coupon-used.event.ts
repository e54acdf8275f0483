import { defineEvent } from 'nestjs-analytics-relay';
import { z } from 'zod';

/** An event as a schema: zod, valibot, arktype, or any other that speaks Standard Schema. */
export const CouponUsed = defineEvent('Coupon Used', z.object({ code: z.string().min(3), percent: z.number() }), {
  description: 'A discount was taken.',
});
