import type { LookupAddress, LookupOptions } from 'node:dns';
import { type BlockList, isIP } from 'node:net';

import { processWide } from '../../common/process-wide.util.js';
import { ADDRESS_NOT_ALLOWED, AddressNotAllowedError } from '../../common/relay.errors.js';
import {
  contains,
  isLocalhost,
  isPublic,
  LOCALHOST_ADDRESSES,
  LOOPBACK,
  PRIVATE,
  toBlockList,
  toCidr,
} from '../network.util.js';
import { HostLookup } from './host-lookup.js';

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Networks of all addresses. */
export const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** Returns the host of a URL; an IPv6 address without brackets. */
export function toHostname({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Returns the addresses of a URL's host that need no look-up; none for a name other than `localhost`. */
export function knownAddresses(url: URL): string[] {
  const hostname = toHostname(url);
  if (isLocalhost(hostname)) return LOCALHOST_ADDRESSES;
  return isIP(hostname) === 0 ? [] : [hostname];
}

/** Returns the networks to allow for an address in a URL. */
export function networksForAddress(address: string): string[] {
  return contains(toBlockList(LOOPBACK), address) ? LOOPBACK : [toCidr(address)];
}

/** Returns the networks to allow for the current address of a name. */
export function networksForName(address: string): string[] {
  const network = PRIVATE.find((cidr) => contains(toBlockList([cidr]), address));
  return network ? [network] : networksForAddress(address);
}

/** Decides which addresses webhooks may be sent to: public addresses and allowed networks, except denied networks. */
export class NetworkPolicy {
  private readonly allowed: BlockList;
  /** Undefined if no networks are denied: searching a list costs 1 us. */
  private readonly denied: BlockList | undefined;

  /**
   * @param allowedNetworks allowed even if not public: CIDRs, addresses, `localhost`
   * @param deniedNetworks always refused, in the same notation
   * @param hosts resolves names; shared by the process
   */
  constructor(
    private readonly allowedNetworks: string[],
    deniedNetworks: string[],
    private readonly hosts: Pick<HostLookup, 'addressesOf'> = processWide('host-lookup', () => new HostLookup()),
  ) {
    this.allowed = toBlockList(allowedNetworks);
    this.denied = deniedNetworks.length > 0 ? toBlockList(deniedNetworks) : undefined;
  }

  /** Whether every address is allowed: both networks of {@link EVERYWHERE} are, and none is denied. */
  get allowsEverything(): boolean {
    return this.denied === undefined && EVERYWHERE.every((network) => this.allowedNetworks.includes(network));
  }

  /** Returns whether an IP address is allowed. An IPv4-mapped IPv6 address counts as the IPv4 address. */
  allows(address: string): boolean {
    return !this.denies(address) && (contains(this.allowed, address) || isPublic(address));
  }

  /** Returns whether an IP address is refused even if it is in an allowed network. */
  denies(address: string): boolean {
    return this.denied !== undefined && contains(this.denied, address);
  }

  /** Creates the error for an address that is not allowed. It does not name the address: tenants may see it. */
  refusal(address: string): AddressNotAllowedError {
    const reason = this.denies(address) ? 'is in delivery.deniedNetworks' : 'is not public';
    return new AddressNotAllowedError(`${ADDRESS_NOT_ALLOWED}: it ${reason}`);
  }

  /** Returns whether a URL's host is allowed. Any name passes, because it is resolved later. */
  allowsHost(url: URL): boolean {
    const addresses = knownAddresses(url);
    return addresses.length === 0 || addresses.some((address) => this.allows(address));
  }

  /** Returns the setting that also allows these networks, for an error message. */
  settingWith(networks: string[]): string {
    const all = new Set([...this.allowedNetworks, ...networks]);
    return `delivery.allowedNetworks: [${[...all].map((network) => `'${network}'`).join(', ')}]`;
  }

  /**
   * Returns the current addresses of a URL's host. Rejects if it has none.
   *
   * @param isComplete as in `HostLookup.addressesOf`
   */
  async addressesOf(url: URL, isComplete = false): Promise<string[]> {
    const known = knownAddresses(url);
    if (known.length > 0) return known;
    return (await this.hosts.addressesOf(toHostname(url), isComplete)).map(({ address }) => address);
  }

  /** Replaces `dns.lookup`: returns only allowed addresses, and fails if a name has none. */
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
