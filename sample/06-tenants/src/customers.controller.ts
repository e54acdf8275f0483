import { Body, Controller, Delete, HttpCode, Param, Post } from '@nestjs/common';
import { WebhookDestinationService } from 'nestjs-analytics-relay';

import { toName } from './name.util.js';

@Controller('customers')
export class CustomersController {
  constructor(private readonly relay: WebhookDestinationService) {}

  /** Each customer has a source. Its write key is shown here only. */
  @Post()
  async create(@Body('name') name: unknown): Promise<object> {
    const { writeKey } = await this.relay.sources.create({ name: toName(name) });
    return { name, writeKey };
  }

  /** The present key stays valid for a day. */
  @Post(':customer/rotate-key')
  async rotateKey(@Param('customer') customer: string): Promise<object> {
    const { writeKey } = await this.relay.sources.rotateKey(customer);
    return { name: customer, writeKey };
  }

  @Delete(':customer')
  @HttpCode(204)
  async remove(@Param('customer') customer: string): Promise<void> {
    const { sources, destinations } = this.relay;
    // The source comes last: a removal that failed half-way can be repeated.
    const webhooks = await destinations.list({ metadata: { customer }, limit: Number.MAX_SAFE_INTEGER });
    for (const { name } of webhooks) await destinations.remove(name);
    await sources.remove(customer);
  }
}
