import { Controller, Get } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import { RelayHealthIndicator } from 'nestjs-analytics-relay/terminus';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly relay: RelayHealthIndicator,
  ) {}

  /** 503 while the queue cannot be written; a receiver that is down does not make the relay unready. */
  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => this.relay.isHealthy('relay', { oldestWaiting: 900_000 })]);
  }
}
