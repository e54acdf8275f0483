import { from, lastValueFrom, mergeMap } from 'rxjs';

import { describe } from '../../common/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import { LogLimiter } from '../../common/log.limiter.js';
import type { DestinationOptions } from '../options/destination.options.js';
import { ADDRESS_NOT_ALLOWED } from '../queue/dead.reason.js';
import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import { networksForName, type NetworkPolicy, toHostname } from './network.policy.js';

/** How long names are looked up after a start, in ms. */
const CHECK_TIME = 30_000;

/** Destinations whose names are looked up at once: a name whose DNS is silent must not hold up all others. */
const CONCURRENCY = 16;

/**
 * Looks up where the destinations are once the relay has started: it warns of names that the network policy refuses, and
 * sends again what the policy had stopped and allows now.
 */
export class NetworkCheck {
  private readonly logger = new LineLogger('WebhookDestination');
  private readonly log = new LogLimiter(this.logger);
  /** By name. */
  private readonly answers = new Map<string, Promise<boolean>>();
  private readonly missing: string[] = [];
  private stopped = false;

  constructor(
    private readonly policy: NetworkPolicy,
    private readonly queue: DeliveryQueue,
    private readonly destinations: DestinationOptions[],
    /** Whether the transport may send through a proxy, which has an address of its own. */
    private readonly mayHaveProxy: boolean,
  ) {}

  /** Never rejects. */
  async run(): Promise<void> {
    const end = Date.now() + CHECK_TIME;
    const checks = from(this.destinations).pipe(mergeMap((destination) => this.check(destination, end), CONCURRENCY));
    await lastValueFrom(checks, { defaultValue: undefined });
  }

  stop(): void {
    this.stopped = true;
    this.log.end();
  }

  private async check(destination: DestinationOptions, end: number): Promise<void> {
    if (this.stopped || Date.now() > end) return;
    try {
      if (await this.allowsAll(destination)) await this.replay(destination);
    } catch (error) {
      if (this.stopped) return; // the queue closes
      const what = `Deliveries to ${destination.name} that ended with "${ADDRESS_NOT_ALLOWED}"`;
      this.logger.warn(`${what} cannot be sent again: ${describe(error)}`);
    }
  }

  private async allowsAll({ name, urls }: DestinationOptions): Promise<boolean> {
    let allowed = true;
    for (const hostname of urls.map((url) => toHostname(new URL(url)))) {
      let answer = this.answers.get(hostname);
      if (!answer) this.answers.set(hostname, (answer = this.allows(hostname, name)));
      allowed = (await answer) && allowed;
    }
    return allowed;
  }

  private async allows(hostname: string, destination: string): Promise<boolean> {
    let addresses: string[];
    try {
      addresses = await this.policy.addressesOf(hostname);
    } catch {
      return false; // It may be known later; deliveries tell, and are tried again.
    }
    if (addresses.some((address) => this.policy.allows(address))) return true;
    this.missing.push(...addresses.flatMap(networksForName));
    if (this.stopped) return false;
    const unless = this.mayHaveProxy ? ' without a proxy' : '';
    this.log.write(
      'warn',
      `Destination ${destination}: nothing is sent to ${hostname}${unless}, as ${addresses.join(', ')} is not a public address. ` +
        `To allow it, set ${this.policy.settingWith(this.missing)}`,
    );
    return false;
  }

  private async replay({ name }: DestinationOptions): Promise<void> {
    const count = await this.queue.replay({ destination: name, reason: ADDRESS_NOT_ALLOWED });
    if (count > 0) this.logger.log(`Destination ${name} is allowed now: ${count} dead deliveries are sent again`);
  }
}
