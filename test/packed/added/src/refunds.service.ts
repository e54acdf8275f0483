import { Injectable } from '@nestjs/common';
import { Track } from 'nestjs-analytics-relay';

export interface Refund {
  orderId: string;
  userId: string;
  amount: number;
}

@Injectable()
export class RefundsService {
  @Track<RefundsService['refund']>('Order Refunded', {
    userId: ({ result }) => result.userId,
    properties: ({ result }) => ({ orderId: result.orderId, amount: result.amount }),
  })
  async refund(orderId: string): Promise<Refund> {
    return { orderId, userId: 'u-1', amount: 42 };
  }
}
