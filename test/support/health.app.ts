import { Controller, Get, type ModuleMetadata } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { RelayHealthIndicator, type RelayHealthOptions } from 'nestjs-analytics-relay/terminus';

import { waitFor } from './wait-for.js';

/** What a health route answered. */
export interface HealthAnswer {
  status: number;
  body: HealthCheckResult;
  /** How long it took, in ms. */
  duration: number;
}

/** Modules, controller and provider of an application with a route `/health`. */
export function healthMetadata(bounds?: RelayHealthOptions): ModuleMetadata {
  @Controller('health')
  class HealthController {
    constructor(
      private readonly health: HealthCheckService,
      private readonly relay: RelayHealthIndicator,
    ) {}

    @Get()
    @HealthCheck()
    check(): Promise<HealthCheckResult> {
      return this.health.check([() => this.relay.isHealthy('relay', bounds)]);
    }
  }
  return {
    imports: [TerminusModule.forRoot({ logger: false })],
    controllers: [HealthController],
    providers: [RelayHealthIndicator],
  };
}

export async function askHealth(host: string): Promise<HealthAnswer> {
  const start = performance.now();
  const answer = await fetch(`${host}/health`);
  const body = (await answer.json()) as HealthCheckResult;
  return { status: answer.status, body, duration: performance.now() - start };
}

/** Resolves with the first answer of this status. */
export async function untilHealth(host: string, status: number, time?: number): Promise<HealthAnswer> {
  let last: HealthAnswer | undefined;
  await waitFor(
    async () => (last = await askHealth(host)).status === status,
    () => `status ${status}, got ${JSON.stringify(last)}`,
    time,
  );
  return last!;
}
