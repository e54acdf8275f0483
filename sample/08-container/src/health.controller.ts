import { Controller, Get } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import { RelayHealthIndicator } from 'nestjs-analytics-relay/terminus';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly relay: RelayHealthIndicator,
  ) {}

  /** Whether the process answers. A restart does not repair a full disk, so the queue is no part of it. */
  @Get('live')
  live() {
    return { status: 'ok' };
  }

  /** 503 while the queue cannot be written; a receiver that is down does not make the relay unready. */
  @Get('ready')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.relay.isHealthy()]);
  }
}
