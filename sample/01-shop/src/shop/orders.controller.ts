import { BadRequestException, Body, Controller, Post } from '@nestjs/common';

import { type Order, type OrderRequest, OrdersService } from './orders.service.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  order(@Body() { userId, product, price }: Partial<OrderRequest> = {}): Order {
    if (!userId || !product || typeof price !== 'number') {
      throw new BadRequestException('an order has a userId, a product and a price');
    }
    return this.orders.checkout({ userId, product, price });
  }
}
