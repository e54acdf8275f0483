import { IsIn, IsNumber, IsOptional, IsString, Min, ValidateBy, ValidateNested } from 'class-validator';
import { defineEvent, TrackedEvent } from 'nestjs-analytics-relay';
import * as v from 'valibot';
import { z } from 'zod';

export class Address {
  @IsString() city!: string;
}

@TrackedEvent('Order Completed', { description: 'A customer paid.' })
export class OrderCompleted {
  @IsString() orderId!: string;
  @IsNumber() @Min(0) revenue!: number;
  @IsOptional() @IsIn(['card', 'cash'], { message: 'payment must be known, not $value' }) payment?: string;
  @IsOptional() @ValidateNested() address?: Address;

  // Takes what it needs apart, so that it cannot be called without.
  constructor({ orderId, revenue }: { orderId: string; revenue: number }) {
    this.orderId = orderId;
    this.revenue = revenue;
  }
}

/** Named by the class that it extends. */
export class GiftCompleted extends OrderCompleted {
  @IsString() greeting!: string;
}

/** Its rule answers with a promise, and so is skipped. */
@TrackedEvent('Checked Later')
export class CheckedLater {
  @ValidateBy({ name: 'later', async: true, validator: { validate: () => Promise.reject(new Error('unheard')) } })
  code = 'c';
}

/** Of zod. */
export const CouponUsed = defineEvent('Coupon Used', z.object({ code: z.string(), lines: z.array(z.string()).max(1) }));

/** Of valibot, whose messages hold the value. */
export const NewsRead = defineEvent('News Read', v.object({ title: v.pipe(v.string(), v.minLength(3)) }));

/** Its answer is a promise. */
export const Awaited = defineEvent('Awaited', v.objectAsync({ title: v.string() }));

/** It throws. */
export const Throwing = defineEvent('Throwing', {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: () => {
      throw new Error('secret');
    },
  },
});
