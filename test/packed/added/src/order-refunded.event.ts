import { IsNumber, IsString } from 'class-validator';
import { TrackedEvent } from 'nestjs-analytics-relay';

@TrackedEvent('Order Refunded')
export class OrderRefunded {
  @IsString() orderId: string;
  @IsNumber() amount: number;
}

declare module 'nestjs-analytics-relay' {
  interface TrackingPlan {
    'Order Completed': { orderId: string; revenue: number };
    'Order Refunded': OrderRefunded;
  }
}
