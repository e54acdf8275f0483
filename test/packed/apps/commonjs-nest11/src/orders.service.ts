import { Injectable } from '@nestjs/common';
import { Track } from 'nestjs-analytics-relay';

export interface OrderRequest {
  userId: string;
  total: number;
}

export interface Order {
  id: string;
  total: number;
}

@Injectable()
export class OrdersService {
  @Track<OrdersService['checkout']>('Order Completed', {
    userId: ({ args: [order] }) => order.userId,
    properties: ({ result }) => ({ orderId: result.id, revenue: result.total }),
  })
  async checkout(order: OrderRequest): Promise<Order> {
    return { id: 'o-1', total: order.total };
  }
}
