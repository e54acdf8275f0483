import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { WebhookDestinationService } from 'nestjs-analytics-relay';

@Controller('health')
export class HealthController {
  constructor(private readonly relay: WebhookDestinationService) {}

  /** Whether the process answers. A restart does not repair a full disk, so the queue is no part of it. */
  @Get('live')
  live() {
    return { status: 'ok' };
  }

  /** Whether the queue can be read. */
  @Get('ready')
  async ready() {
    const deliveries = await this.relay.stats().catch((error: Error) => {
      throw new ServiceUnavailableException(error.message);
    });
    return { status: 'ok', deliveries };
  }
}
