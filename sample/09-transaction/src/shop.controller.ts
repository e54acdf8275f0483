import { Body, Controller, Get, HttpCode, Post, Redirect } from '@nestjs/common';

import { OrdersService } from './orders.service.js';

/** Ids of the orders in the webhooks received. */
const told: string[] = [];

@Controller()
export class ShopController {
  constructor(private readonly orders: OrdersService) {}

  @Get()
  async page(): Promise<string> {
    const list = (ids: string[]) => ids.map((id) => `<li>${id}</li>`).join('');
    return `<!doctype html><title>An order and its event</title>
      <form method="post" action="orders">
        <button>Place an order</button>
        <button name="isOutOfStock" value="yes">Place an order that is rolled back</button>
      </form>
      <h2>Orders</h2><ol>${list(await this.orders.list())}</ol>
      <h2>Webhooks</h2><ol>${list([...told].sort())}</ol><a href="/">Reload</a>`;
  }

  @Post('orders')
  @Redirect('/', 303)
  async place(@Body() { isOutOfStock }: { isOutOfStock?: string } = {}): Promise<void> {
    try {
      console.log(`[shop] order ${await this.orders.place('Coffee', isOutOfStock === 'yes')} is committed`);
    } catch (error) {
      console.log(`[shop] the order is rolled back: ${(error as Error).message}`);
    }
  }

  /** Stands in for another service. */
  @Post('webhooks')
  @HttpCode(204)
  receive(@Body() { properties: { orderId } }: { properties: { orderId: string } }): void {
    told.push(orderId);
    console.log(`[receiver] webhook for order ${orderId}`);
  }
}
