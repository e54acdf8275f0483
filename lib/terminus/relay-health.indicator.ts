import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';

import { throwFaults } from '../common/options.error.js';
import { findOptionFaults, IfGiven, Must, toOptions } from '../common/options.rules.js';
import { findProviders } from '../common/application-modules.util.js';
import { isWholeNumber } from '../common/value.util.js';
import type { HealthReport, RelayHealth } from '../webhook-destination/observe/relay-health.js';
import { RELAY_HEALTH } from '../webhook-destination/webhook-destination.tokens.js';

/** Bounds of {@link RelayHealthIndicator.isHealthy}. A relay that violates one is degraded. Default: no bound. */
export class RelayHealthOptions {
  /** Maximum age of the oldest waiting delivery, in ms. */
  @IfGiven()
  @Must('be a whole number of ms, 0 or above', isWholeNumber)
  oldestWaiting?: number;

  /**
   * Maximum number of dead deliveries on record. Counting them reads every row of a queue in PostgreSQL, and queries
   * Redis once for each destination.
   */
  @IfGiven()
  @Must('be a whole number, 0 or above', isWholeNumber)
  dead?: number;

  /** Minimum free space of the disk with the SQLite file, in bytes. */
  @IfGiven()
  @Must('be a whole number of bytes, 0 or above', isWholeNumber)
  freeDisk?: number;
}

/**
 * Health indicator for the application's relays, for `@nestjs/terminus` 11 and 12. Provide it in the module with the
 * health route.
 * @see docs/observability.md, "Health"
 */
@Injectable()
export class RelayHealthIndicator {
  constructor(
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
  ) {}

  /**
   * Checks all relays of the application within 2 s. Resolves with `down` while a queue cannot be written to, with
   * `degraded` while a destination is down, a queue is full or a bound is violated, and with `up` otherwise. Terminus
   * 11 has no `degraded`; there, the result is `up` with `degraded: true`. Only `down` makes the application unready; a
   * receiver that is down never does.
   *
   * @param key name of the relay in the result
   * @throws {OptionsError} naming each invalid bound and its rule
   */
  async isHealthy<Key extends string = 'relay'>(
    key: Key = 'relay' as Key,
    bounds: RelayHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const options = toOptions(RelayHealthOptions, bounds);
    throwFaults('RelayHealthIndicator', findOptionFaults(options));
    const relays = findProviders<RelayHealth>(this.moduleRef, RELAY_HEALTH);
    const reports = await Promise.all(relays.map((relay) => relay.check(options)));
    return this.toResult(key, reports);
  }

  private toResult<Key extends string>(key: Key, reports: HealthReport[]): HealthIndicatorResult<Key> {
    const indicator = this.indicators.check(key);
    if (reports.length === 0) return indicator.down('the application has no WebhookDestinationModule');
    const faults = reports.flatMap(({ fault }) => fault ?? []);
    if (faults.length > 0) return indicator.down(faults.join('; '));
    const reasons = reports.flatMap(({ impairments }) => impairments);
    if (reasons.length === 0) return indicator.up();
    // Terminus 11 drops states that it does not know.
    const isKnown = typeof (indicator as Partial<typeof indicator>).degraded === 'function';
    return isKnown ? indicator.degraded({ reasons }) : indicator.up({ degraded: true, reasons });
  }
}
