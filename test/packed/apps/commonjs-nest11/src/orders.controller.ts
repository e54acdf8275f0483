import { Body, Controller, Post } from '@nestjs/common';

import { OrdersService } from './orders.service';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  async checkout(@Body() order: { userId: string; total: number }): Promise<{ id: string }> {
    return this.orders.checkout(order);
  }
}
