import { from, lastValueFrom, mergeMap } from 'rxjs';

import { errorMessage } from '../../common/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { isPublic } from '../../common/network.util.js';
import type { DestinationOptions } from './destination.options.js';
import { ADDRESS_NOT_ALLOWED, type DeliveryQueue } from '../queue/delivery-queue.interface.js';
import type { ProxyChoice } from './egress-proxy.js';
import { networksForName, type NetworkPolicy, toHostname } from './network.policy.js';

/** Time limit for the look-ups after a start, in ms. */
const CHECK_TIME = 30_000;

/** Destinations checked concurrently, so that an unresponsive DNS server does not hold up the others. */
const CONCURRENCY = 16;

/**
 * Resolves destinations' names, once: warns about names that the network policy refuses and about plain
 * http URLs, and replays deliveries that the policy had stopped and allows now.
 */
export class NetworkCheck {
  private readonly logger = new LimitedLogger('WebhookDestination');
  /** By name. */
  private readonly answers = new Map<string, Promise<string[]>>();
  private readonly warned = new Set<string>();
  private readonly checked = new WeakSet<DestinationOptions>();
  private readonly missing: string[] = [];
  private stopped = false;

  constructor(
    private readonly policy: NetworkPolicy,
    private readonly queue: DeliveryQueue,
    private readonly proxyFor: ProxyChoice,
  ) {}

  /** Never rejects. */
  async run(destinations: DestinationOptions[]): Promise<void> {
    const end = Date.now() + CHECK_TIME;
    const checks = from(destinations).pipe(mergeMap((destination) => this.check(destination, end), CONCURRENCY));
    await lastValueFrom(checks, { defaultValue: undefined });
    this.answers.clear();
  }

  stop(): void {
    this.stopped = true;
    this.logger.end();
  }

  private async check(destination: DestinationOptions, end: number): Promise<void> {
    if (this.stopped || Date.now() > end || this.checked.has(destination)) return;
    this.checked.add(destination);
    try {
      if (await this.allowsAll(destination)) await this.replay(destination);
    } catch (error) {
      if (this.stopped) return; // the queue closes
      const what = `Deliveries to ${destination.name} that ended with "${ADDRESS_NOT_ALLOWED}"`;
      this.logger.warn(`${what} cannot be sent again: ${errorMessage(error)}`);
    }
  }

  private async allowsAll({ name, urls }: DestinationOptions): Promise<boolean> {
    let allowed = true;
    for (const url of urls.map((text) => new URL(text))) {
      const addresses = await this.addressesOf(url);
      if (this.stopped) return false;
      const isProxied = this.proxyFor(url) !== undefined;
      const isAllowed = (address: string): boolean => this.policy.allows(address);
      // The proxy may know a name that is unknown here, and may use any of its addresses.
      if (isProxied ? addresses.every(isAllowed) : addresses.some(isAllowed)) {
        if (url.protocol === 'http:' && addresses.some(isPublic)) this.warnOfPlainHttp(name, url);
        continue;
      }
      allowed = false;
      if (addresses.length > 0) this.warnOfRefusal(name, toHostname(url), addresses);
    }
    return allowed;
  }

  /** Empty for an unknown name. */
  private addressesOf(url: URL): Promise<string[]> {
    const hostname = toHostname(url);
    let answer = this.answers.get(hostname);
    if (!answer) this.answers.set(hostname, (answer = this.policy.addressesOf(url).catch(() => [])));
    return answer;
  }

  private warnOfRefusal(destination: string, hostname: string, addresses: string[]): void {
    if (this.isRepeated(hostname)) return;
    const refused = addresses.filter((address) => !this.policy.allows(address));
    const allowable = refused.filter((address) => !this.policy.denies(address));
    this.missing.push(...allowable.flatMap(networksForName));
    this.logger.limited(
      'warn',
      `Destination ${destination}: nothing is sent to ${hostname}, as ` +
        (allowable.length === 0
          ? `${refused.join(', ')} is in delivery.deniedNetworks`
          : `${allowable.join(', ')} is not a public address. To allow it, set ${this.policy.settingWith(this.missing)}`),
    );
  }

  private warnOfPlainHttp(destination: string, { origin, pathname }: URL): void {
    if (this.isRepeated(origin + pathname)) return;
    this.logger.limited(
      'warn',
      `Destination ${destination}: messages to ${origin}${pathname} cross public networks unencrypted. Use https; ` +
        'delivery.httpsOnly: true refuses such URLs at start',
    );
  }

  private isRepeated(subject: string): boolean {
    return this.warned.size === this.warned.add(subject).size;
  }

  private async replay({ name }: DestinationOptions): Promise<void> {
    const count = await this.queue.replay({ destination: name, reason: ADDRESS_NOT_ALLOWED });
    if (count > 0) this.logger.log(`Destination ${name} is allowed now: ${count} dead deliveries are sent again`);
  }
}
