import { randomUUID } from 'node:crypto';

import { Injectable } from '@nestjs/common';
import { Track } from 'nestjs-analytics-relay';

export interface OrderRequest {
  userId: string;
  product: string;
  price: number;
}

export interface Order extends OrderRequest {
  id: string;
}

@Injectable()
export class OrdersService {
  @Track<OrdersService['checkout']>('Order Completed', {
    userId: ({ result }) => result.userId,
    properties: ({ result }) => ({ orderId: result.id, product: result.product, revenue: result.price }),
  })
  checkout(request: OrderRequest): Order {
    return { id: randomUUID(), ...request };
  }
}
