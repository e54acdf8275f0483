import { BlockList, isIP } from 'node:net';

/** Networks outside the public internet: a webhook's URL must not reach into the operator's own network. */
const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's own services, from within a virtual machine
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** Networks of `localhost`. */
export const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** Addresses of `localhost` and its subdomains. */
export const LOCALHOST_ADDRESSES = ['127.0.0.1', '::1'];

/** Private networks, in which a name's address may change. */
export const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];

function parseCidr(cidr: string): [network: string, prefix: number, family: 'ipv4' | 'ipv6'] | undefined {
  const [network = '', prefix = '', ...rest] = cidr.split('/');
  const family = isIP(network);
  const isPrefix = /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
  if (family === 0 || network.includes('%') || rest.length > 0 || !isPrefix) return undefined;
  return [network, Number(prefix), family === 4 ? 'ipv4' : 'ipv6'];
}

/** Whether a value is a network in CIDR notation, such as `10.0.0.0/8`. */
export function isCidr(value: unknown): boolean {
  return typeof value === 'string' && parseCidr(value) !== undefined;
}

/** Whether a value is a list in which each entry is a network in CIDR notation, an address or `localhost`. */
export function areNetworks(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string' && toCidrs(entry).every(isCidr));
}

function toCidrs(entry: string): string[] {
  if (entry === 'localhost') return LOOPBACK;
  return [isIP(entry) === 0 ? entry : toCidr(entry)];
}

/** Returns the network that contains only this address. */
export function toCidr(address: string): string {
  return `${address}/${isIP(address) === 4 ? 32 : 128}`;
}

/** Converts a list that {@link areNetworks} accepts. */
export function toBlockList(networks: string[]): BlockList {
  const list = new BlockList();
  for (const cidr of networks.flatMap(toCidrs)) {
    list.addSubnet(...parseCidr(cidr)!);
  }
  return list;
}

/** Whether an address is in a list. An IPv4 address mapped into IPv6 counts as the IPv4 address. */
export function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a name is `localhost` or a subdomain of it, which must not be resolved through DNS (RFC 6761). */
export function isLocalhost(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname);
}

const notPublic = toBlockList(NOT_PUBLIC);

export function isPublic(address: string): boolean {
  return !contains(notPublic, address);
}

/**
 * Matches an IPv4 address, or what may be an IPv6 address, perhaps with a port; and the networks of all addresses, which
 * are no addresses.
 */
const ADDRESS = /(?<![\w.])(?:(?:0\.0\.0\.0|::)\/0|(?:\d{1,3}\.){3}\d{1,3}|[\da-f]*:[\da-f:]*:[\da-f:.]*)/gi;

/** Matches the names of a certificate in Node's error for one that does not have the name of its host. */
const CERTIFICATE_NAMES = /(is not (?:in the cert's (?:altnames|list)|cert's CN)): .*/s;

/**
 * Replaces the addresses in a text that are not public by `***`, and removes the names of a certificate. The last group
 * of an IPv6 address may be a port.
 */
export function concealAddresses(text: string): string {
  return text.replace(CERTIFICATE_NAMES, '$1').replace(ADDRESS, (found) => {
    const readings = [found, found.replace(/:\d*$/, '')].filter((one) => isIP(one) !== 0);
    return readings.every(isPublic) ? found : '***';
  });
}
