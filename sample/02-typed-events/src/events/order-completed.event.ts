import { IsIn, IsNumber, IsString, Min } from 'class-validator';
import { TrackedEvent } from 'nestjs-analytics-relay';

/** An event as a class: its rules are those of class-validator. */
@TrackedEvent('Order Completed', { description: 'A customer paid.' })
export class OrderCompleted {
  @IsString() orderId!: string;
  @IsNumber() @Min(0) revenue!: number;
  @IsIn(['CHF', 'EUR']) currency!: 'CHF' | 'EUR';
}
