import { Injectable } from '@nestjs/common';
import { AnalyticsService, Track } from 'nestjs-analytics-relay';

export interface Order {
  id: string;
  total: number;
}

/** Knows nothing of tests. */
@Injectable()
export class OrdersService {
  private count = 0;

  constructor(private readonly analytics: AnalyticsService) {}

  @Track<OrdersService['place']>('Order Placed', {
    userId: ({ args: [userId] }) => userId,
    properties: ({ result }) => ({ orderId: result.id, revenue: result.total }),
  })
  place(userId: string, total: number): Promise<Order> {
    this.analytics.identify({ userId, traits: { isCustomer: true } });
    return Promise.resolve({ id: `order-${++this.count}`, total });
  }
}
