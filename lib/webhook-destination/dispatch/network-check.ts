import { mergeMap, Subject } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { isPublic } from '../network.util.js';
import type { DestinationOptions } from './destination.options.js';
import { ADDRESS_NOT_ALLOWED } from '../../common/relay.errors.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import { networksForName, type NetworkPolicy, toHostname } from '../transport/network.policy.js';
import type { ProxyChoice } from '../transport/proxy.connector.js';
import { shownUrl } from '../transport/webhook-target.js';

/** Maximum time that a check waits for other checks, in ms. */
const CHECK_TIME = 30_000;

/** Number of destinations checked concurrently, so an unresponsive DNS server does not delay the others. */
const CONCURRENCY = 16;

/**
 * Resolves the host names of destinations once. Warns about names that the network policy refuses and about plain http
 * URLs, and replays deliveries that the policy stopped earlier and now allows.
 */
export class NetworkCheck {
  private readonly logger = new LimitedLogger('WebhookDestination');
  private readonly addresses = new Map<string, Promise<string[]>>();
  private readonly warned = new Set<string>();
  private readonly known = new WeakSet<DestinationOptions>();
  private readonly added = new Subject<() => Promise<void>>();
  /** Number of checks that have not ended. */
  private waiting = 0;
  private readonly missing: string[] = [];
  private stopped = false;

  constructor(
    private readonly policy: NetworkPolicy,
    private readonly queue: DeliveryQueue,
    private readonly proxyFor: ProxyChoice,
  ) {
    this.added.pipe(mergeMap((check) => check(), CONCURRENCY)).subscribe();
  }

  /**
   * Checks destinations that were not checked before.
   *
   * @param replays whether the queue may hold deliveries to them that the policy stopped
   */
  add(destinations: DestinationOptions[], replays: boolean): void {
    const end = Date.now() + CHECK_TIME;
    for (const destination of destinations) {
      if (this.known.has(destination)) continue;
      this.known.add(destination);
      this.waiting++;
      this.added.next(() => this.check(destination, replays, end));
    }
  }

  stop(): void {
    this.stopped = true;
    this.logger.end();
  }

  /**
   * Never rejects.
   * @param end when the check no longer begins, in ms since the epoch
   */
  private async check(destination: DestinationOptions, replays: boolean, end: number): Promise<void> {
    const { name } = destination;
    try {
      if (this.stopped || Date.now() > end) return;
      if (!(await this.allowsAll(destination)) || !replays) return;
      const count = await this.queue.replay({ destination: name, reason: ADDRESS_NOT_ALLOWED });
      if (count === 0) return;
      this.logger.log(`Destination ${name} is now allowed. Dead deliveries replayed: ${count}`, { destination: name });
    } catch (error) {
      if (this.stopped) return; // the queue is closing
      const what = `Dead deliveries to ${name} with the reason "${ADDRESS_NOT_ALLOWED}"`;
      this.logger.warn(`${what} cannot be replayed: ${errorMessage(error)}`, { destination: name });
    } finally {
      if (--this.waiting === 0) this.addresses.clear(); // a later check resolves names again
    }
  }

  private async allowsAll({ name, urls }: DestinationOptions): Promise<boolean> {
    let allowed = true;
    for (const url of urls.map((text) => new URL(text))) {
      const addresses = await this.addressesOf(url);
      if (this.stopped) return false;
      const isProxied = this.proxyFor(url) !== undefined;
      const isAllowed = (address: string): boolean => this.policy.allows(address);
      // The proxy may use any of the addresses; a name that is unknown here has none.
      const isUsable = isProxied
        ? this.policy.allowsEverything || (addresses.length > 0 && addresses.every(isAllowed))
        : addresses.some(isAllowed);
      if (isUsable) {
        if (url.protocol === 'http:' && addresses.some(isPublic)) this.warnOfPlainHttp(name, url);
        continue;
      }
      allowed = false;
      if (addresses.length > 0) this.warnOfRefusal(name, toHostname(url), addresses);
    }
    return allowed;
  }

  /** Returns no addresses for an unknown name. */
  private addressesOf(url: URL): Promise<string[]> {
    const hostname = toHostname(url);
    let answer = this.addresses.get(hostname);
    if (!answer) this.addresses.set(hostname, (answer = this.policy.addressesOf(url).catch(() => [])));
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
      { destination },
    );
  }

  private warnOfPlainHttp(destination: string, url: URL): void {
    const shown = shownUrl(url);
    if (this.isRepeated(shown)) return;
    this.logger.limited(
      'warn',
      `Destination ${destination}: messages to ${shown} cross public networks unencrypted. Use https; ` +
        'delivery.httpsOnly: true refuses such URLs at start',
      { destination },
    );
  }

  private isRepeated(subject: string): boolean {
    return this.warned.size === this.warned.add(subject).size;
  }
}
