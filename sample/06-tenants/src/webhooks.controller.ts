import { Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { WebhookDestinationService } from 'nestjs-analytics-relay';

import type { Person } from './accounts.js';
import { SignedIn, SignedInGuard } from './signed-in.decorator.js';

@Controller()
@UseGuards(SignedInGuard)
export class WebhooksController {
  constructor(private readonly relay: WebhookDestinationService) {}

  /** Lets the person's page, and nobody else's, into the portal of their account. */
  @Post('portal-link')
  async link(@SignedIn() { email, account }: Person): Promise<object> {
    const { url, token } = await this.relay.portal.link(account.name, { access: 'write', person: email });
    return { url, token };
  }

  /** Something that the customers want to hear about. */
  @Post('orders')
  @HttpCode(202)
  async order(@SignedIn() { email, account }: Person): Promise<object> {
    const properties = { orderId: `order-${Date.now()}`, total: 42 };
    await this.relay.accept(account.writeKey, [{ type: 'track', userId: email, event: 'Order Completed', properties }]);
    return properties;
  }
}
