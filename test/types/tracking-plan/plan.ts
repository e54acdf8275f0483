// An application's tracking plan: a class, a schema, and a type of properties.
import { IsNumber, IsString } from 'class-validator';
import { defineEvent, TrackedEvent } from 'nestjs-analytics-relay';
import * as valibot from 'valibot';
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

export interface Refund {
  orderId: string;
  amount: number;
}

/** A Standard Schema written by hand. */
export const refundSchema = {
  '~standard': {
    version: 1 as const,
    vendor: 'shop',
    validate: (value: unknown) =>
      typeof value === 'object' ? { value: value as Refund } : { issues: [{ message: 'must be an object' }] },
  },
};

export const Refunded = defineEvent('Refunded', refundSchema);

const isShipment = (value: unknown): value is { parcel: string } => typeof value === 'object';

export const Shipped = defineEvent('Shipped', {
  '~standard': {
    version: 1,
    vendor: 'shop',
    validate: (value) => (isShipment(value) ? { value } : { issues: [{ message: 'must be a shipment' }] }),
  },
});

export const Asked = defineEvent('Asked', {
  '~standard': { version: 1, vendor: 'shop', validate: (v) => ({ value: v as { question: string } }) },
});

/** Takes text, and reads numbers from it. */
export const Rated = defineEvent(
  'Rated',
  valibot.object({ stars: valibot.pipe(valibot.string(), valibot.toNumber()) }),
);

declare module 'nestjs-analytics-relay' {
  interface TrackingPlan {
    'Order Completed': Pick<OrderCompleted, 'orderId' | 'revenue'>;
    'Coupon Used': typeof CouponUsed;
    Refunded: typeof Refunded;
    'Refund Asked': typeof refundSchema;
    'Shop Opened': { by?: string };
  }
}
