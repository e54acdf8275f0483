import type { LookupAddress, LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';

import { ADDRESS_NOT_ALLOWED } from '../queue/dead.reason.js';
import { type HostLookup, hostLookup } from './host.lookup.js';

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

type Subnet = [network: string, prefix: number];

// Addresses that are not of the public internet: a webhook's URL must not reach into the operator's own network.
const IPV4_REFUSED: Subnet[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
const IPV6_REFUSED: Subnet[] = [
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const refused = new BlockList();
for (const [network, prefix] of IPV4_REFUSED) refused.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of IPV6_REFUSED) refused.addSubnet(network, prefix, 'ipv6');

/** What `localhost` means. */
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** Networks of one's own, in which a name's address may change. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];

/** An address that may not be connected to; no request is sent. */
export class AddressNotAllowedError extends Error {
  readonly code = 'ERR_ADDRESS_NOT_ALLOWED';

  constructor(address: string) {
    super(`${ADDRESS_NOT_ALLOWED}: ${address} is not public`);
    this.name = 'AddressNotAllowedError';
  }
}

function parseCidr(cidr: string): [Subnet, 'ipv4' | 'ipv6'] | undefined {
  const [network = '', prefix, ...rest] = cidr.split('/');
  const family = isIP(network);
  const bits = prefix !== undefined && /^\d{1,3}$/.test(prefix) ? Number(prefix) : NaN;
  if (family === 0 || network.includes('%') || rest.length > 0 || !(bits <= (family === 4 ? 32 : 128)))
    return undefined;
  return [[network, bits], family === 4 ? 'ipv4' : 'ipv6'];
}

/** Whether a value is a network in CIDR notation, such as `10.0.0.0/8`. */
export function isCidr(value: unknown): boolean {
  return typeof value === 'string' && parseCidr(value) !== undefined;
}

/** Whether a value is an entry of `delivery.allowedNetworks`: a network in CIDR notation, an address or `localhost`. */
export function isNetwork(value: unknown): boolean {
  return typeof value === 'string' && toCidrs(value).every(isCidr);
}

function toCidrs(entry: string): string[] {
  if (entry === 'localhost') return LOOPBACK;
  return [isIP(entry) === 0 ? entry : toCidr(entry)];
}

function toCidr(address: string): string {
  return `${address}/${isIP(address) === 4 ? 32 : 128}`;
}

function toBlockList(networks: string[]): BlockList {
  const list = new BlockList();
  for (const cidr of networks.flatMap(toCidrs)) {
    const parsed = parseCidr(cidr);
    if (!parsed) throw new Error(`${cidr} is not a network in CIDR notation`);
    const [[network, prefix], family] = parsed;
    list.addSubnet(network, prefix, family);
  }
  return list;
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** A host as the look-up takes it: an IPv6 address without brackets. */
export function toHostname({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** The addresses that a URL's host is known to have without a look-up; none for a name other than `localhost`. */
export function knownAddresses(url: URL): string[] {
  const hostname = toHostname(url);
  if (/^(.+\.)?localhost\.?$/.test(hostname)) return ['127.0.0.1', '::1'];
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

/** Which addresses webhooks may be sent to: the public ones and those of the allowed networks. */
export class NetworkPolicy {
  private readonly allowed: BlockList;

  /**
   * @param allowedNetworks exempt from the rule: CIDRs, addresses, `localhost`
   * @param hosts looks names up
   */
  constructor(
    private readonly allowedNetworks: string[],
    private readonly hosts: Pick<HostLookup, 'addressesOf'> = hostLookup(),
  ) {
    this.allowed = toBlockList(allowedNetworks);
  }

  /** Whether an IP address may be connected to; an IPv4 address mapped into IPv6 counts as the IPv4 one. */
  allows(address: string): boolean {
    return contains(this.allowed, address) || !contains(refused, address);
  }

  /** Whether a URL's host may be connected to, as far as the URL alone tells: a name is only known once looked up. */
  allowsHost(url: URL): boolean {
    const addresses = knownAddresses(url);
    return addresses.length === 0 || addresses.some((address) => this.allows(address));
  }

  /** The option as it is to be set where these networks are to be allowed as well. */
  settingWith(networks: string[]): string {
    const all = new Set([...this.allowedNetworks, ...networks]);
    return `delivery.allowedNetworks: [${[...all].map((network) => `'${network}'`).join(', ')}]`;
  }

  /** The addresses of a name as they are now. Rejects when it has none. */
  async addressesOf(hostname: string): Promise<string[]> {
    return (await this.hosts.addressesOf(hostname)).map(({ address }) => address);
  }

  /** Takes the place of `dns.lookup`: answers with allowed addresses only, and fails when a name has none. */
  readonly lookup = (hostname: string, { all }: LookupOptions, callback: LookupCallback): void => {
    this.hosts.addressesOf(hostname).then(
      (addresses) => {
        const usable = addresses.filter(({ address }) => this.allows(address));
        const [first] = usable;
        if (!first) return callback(new AddressNotAllowedError(addresses[0]?.address ?? hostname), []);
        if (all) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, []),
    );
  };
}
