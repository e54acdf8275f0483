import { Body, Controller, Post } from '@nestjs/common';

import { type Order, OrdersService } from './orders.service.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  place(@Body() { userId, total }: { userId: string; total: number }): Promise<Order> {
    return this.orders.place(userId, total);
  }
}
