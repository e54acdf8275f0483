import { IsNumber, IsString } from 'class-validator';
import { TrackedEvent } from 'nestjs-analytics-relay';

@TrackedEvent('Order Completed')
export class OrderCompleted {
  @IsString() orderId!: string;
  @IsNumber() revenue!: number;
}

declare module 'nestjs-analytics-relay' {
  interface TrackingPlan {
    'Order Completed': OrderCompleted;
  }
}
