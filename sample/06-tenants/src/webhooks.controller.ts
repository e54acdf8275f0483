import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { type DestinationEntry, WebhookDestinationService } from 'nestjs-analytics-relay';

import { toName } from './name.util.js';

interface WebhookRequest {
  name: string;
  url: string;
  events?: string[];
}

/** The webhooks of one customer. An application has a guard here that lets only this customer in. */
@Controller('customers/:customer/webhooks')
export class WebhooksController {
  constructor(private readonly relay: WebhookDestinationService) {}

  /** The secret is shown here only. The relay checks the URL and the event patterns. */
  @Post()
  async create(
    @Param('customer') customer: string,
    @Body() { name, url, events }: Partial<WebhookRequest> = {},
  ): Promise<object> {
    const { sharedSecret, ...created } = await this.relay.destinations.create({
      name: `${customer}/${toName(name)}`,
      integration: 'Webhooks',
      sources: [customer],
      types: ['track'], // `events` filters these alone: traits of identify would pass
      metadata: { customer },
      urls: [url] as string[],
      ...(events && { events }),
    });
    return { ...shown(created), secret: sharedSecret };
  }

  @Get()
  async list(@Param('customer') customer: string): Promise<object[]> {
    return (await this.relay.destinations.list({ metadata: { customer } })).map(shown);
  }

  @Post(':name/pause')
  async pause(@Param('customer') customer: string, @Param('name') name: string): Promise<object> {
    return shown(await this.relay.destinations.pause(`${customer}/${name}`));
  }

  @Post(':name/resume')
  async resume(@Param('customer') customer: string, @Param('name') name: string): Promise<object> {
    return shown(await this.relay.destinations.resume(`${customer}/${name}`));
  }

  /** Requests are signed with both secrets for a day. */
  @Post(':name/rotate')
  async rotate(@Param('customer') customer: string, @Param('name') name: string): Promise<object> {
    const { sharedSecret, ...rotated } = await this.relay.destinations.rotateSecret(`${customer}/${name}`);
    return { ...shown(rotated), secret: sharedSecret };
  }

  /** The result names no address of the application's own network. */
  @Post(':name/test')
  test(@Param('customer') customer: string, @Param('name') name: string): Promise<object> {
    return this.relay.destinations.test(`${customer}/${name}`);
  }

  @Delete(':name')
  @HttpCode(204)
  remove(@Param('customer') customer: string, @Param('name') name: string): Promise<void> {
    return this.relay.destinations.remove(`${customer}/${name}`);
  }
}

function shown({ name, urls: [url], events, paused }: DestinationEntry): object {
  return { name: name.slice(name.indexOf('/') + 1), url, events, paused };
}
