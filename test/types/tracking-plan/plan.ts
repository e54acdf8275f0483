// An application's tracking plan: a class, a schema, and a type of properties.
import { IsNumber, IsString } from 'class-validator';
import { defineEvent, TrackedEvent } from 'nestjs-analytics-relay';
import { z } from 'zod';

@TrackedEvent('Order Completed')
export class OrderCompleted {
  @IsString() orderId!: string;
  @IsNumber() revenue!: number;

  get inCents(): number {
    return this.revenue * 100;
  }

  describe(): string {
    return `${this.orderId}: ${this.inCents}`;
  }
}

export const CouponUsed = defineEvent('Coupon Used', z.object({ code: z.string(), percent: z.number().optional() }));

declare module 'nestjs-analytics-relay' {
  interface TrackingPlan {
    'Order Completed': Pick<OrderCompleted, 'orderId' | 'revenue'>;
    'Coupon Used': typeof CouponUsed;
    'Shop Opened': { by?: string };
  }
}
