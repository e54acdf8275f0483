import type { LookupAddress, LookupOptions } from 'node:dns';
import { type BlockList, isIP } from 'node:net';

import {
  contains,
  isLocalhost,
  isPublic,
  LOCALHOST_ADDRESSES,
  LOOPBACK,
  PRIVATE,
  toBlockList,
  toCidr,
} from '../../common/network.util.js';
import { AddressNotAllowedError } from '../../common/relay.errors.js';
import { ADDRESS_NOT_ALLOWED } from '../queue/delivery-queue.interface.js';
import { type HostLookup, hostLookup } from './host-lookup.js';

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** The host of a URL; an IPv6 address without brackets. */
export function toHostname({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** The addresses that a URL's host is known to have without a look-up; none for a name other than `localhost`. */
export function knownAddresses(url: URL): string[] {
  const hostname = toHostname(url);
  if (isLocalhost(hostname)) return LOCALHOST_ADDRESSES;
  return isIP(hostname) === 0 ? [] : [hostname];
}

/** The networks to allow for an address in a URL. */
export function networksForAddress(address: string): string[] {
  return contains(toBlockList(LOOPBACK), address) ? LOOPBACK : [toCidr(address)];
}

/** The networks to allow for an address that a name has at the moment. */
export function networksForName(address: string): string[] {
  const network = PRIVATE.find((cidr) => contains(toBlockList([cidr]), address));
  return network ? [network] : networksForAddress(address);
}

/** Which addresses webhooks may be sent to: the public ones and those of the allowed networks, without the denied. */
export class NetworkPolicy {
  private readonly allowed: BlockList;
  /** Set where there are any: a look into a list costs 1 us. */
  private readonly denied: BlockList | undefined;

  /**
   * @param allowedNetworks exempt from the rule: CIDRs, addresses, `localhost`
   * @param deniedNetworks refused in any case, written alike
   * @param hosts looks names up
   */
  constructor(
    private readonly allowedNetworks: string[],
    deniedNetworks: string[] = [],
    private readonly hosts: Pick<HostLookup, 'addressesOf'> = hostLookup(),
  ) {
    this.allowed = toBlockList(allowedNetworks);
    this.denied = deniedNetworks.length > 0 ? toBlockList(deniedNetworks) : undefined;
  }

  /** Whether an IP address may be connected to; an IPv4 address mapped into IPv6 counts as the IPv4 one. */
  allows(address: string): boolean {
    return !this.denies(address) && (contains(this.allowed, address) || isPublic(address));
  }

  /** Whether an IP address is refused whatever is allowed. */
  denies(address: string): boolean {
    return this.denied !== undefined && contains(this.denied, address);
  }

  /** The error for an address that is not allowed, or that is not known. */
  refusal(address = 'unknown'): AddressNotAllowedError {
    const reason = this.denies(address) ? 'is in delivery.deniedNetworks' : 'is not public';
    return new AddressNotAllowedError(`${ADDRESS_NOT_ALLOWED}: ${address} ${reason}`);
  }

  /** Whether a URL's host may be connected to, by the URL alone: any name passes, as it is resolved later. */
  allowsHost(url: URL): boolean {
    const addresses = knownAddresses(url);
    return addresses.length === 0 || addresses.some((address) => this.allows(address));
  }

  /** The setting that also allows these networks, for an error message. */
  settingWith(networks: string[]): string {
    const all = new Set([...this.allowedNetworks, ...networks]);
    return `delivery.allowedNetworks: [${[...all].map((network) => `'${network}'`).join(', ')}]`;
  }

  /** The addresses of a URL's host as they are now. Rejects when it has none. */
  async addressesOf(url: URL): Promise<string[]> {
    const known = knownAddresses(url);
    return known.length > 0 ? known : (await this.hosts.addressesOf(toHostname(url))).map(({ address }) => address);
  }

  /** Takes the place of `dns.lookup`: answers with allowed addresses only, and fails when a name has none. */
  readonly lookup = (hostname: string, { all }: LookupOptions, callback: LookupCallback): void => {
    this.hosts.addressesOf(hostname).then(
      (addresses) => {
        const usable = addresses.filter(({ address }) => this.allows(address));
        const [first] = usable;
        if (!first) return callback(this.refusal(addresses[0]!.address), []);
        if (all) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, []),
    );
  };
}
