import type { IncomingMessage } from 'node:http';
import { isIP, SocketAddress } from 'node:net';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';

/** Returns what identifies a client: an IPv4 address, or the network of an IPv6 address. */
export type AddressReader = (request: IncomingMessage) => string;

/** Reads the address of the socket, or the application's client address if it is an IP address. */
export function createAddressReader(clientAddress?: (request: IncomingMessage) => string | undefined): AddressReader {
  if (!clientAddress) return socketNetwork;
  const faults = new LimitedLogger('WebhookDestinationIngest');
  return (request) => {
    try {
      const given = clientAddress(request);
      if (typeof given === 'string' && isIP(given) !== 0) return networkOf(canonical(given));
    } catch (error) {
      faults.once(`ingest.clientAddress failed; the address of the connection is used instead: ${errorMessage(error)}`);
    }
    return socketNetwork(request);
  };
}

/** A serverless runtime may have no socket. */
function socketNetwork({ socket }: IncomingMessage): string {
  return networkOf(socket?.remoteAddress ?? '');
}

/** Returns the notation of sockets as a new string: a slice would keep the whole header in memory. */
function canonical(address: string): string {
  const [withoutZone = ''] = address.split('%', 1);
  return new SocketAddress({ address: withoutZone, family: isIP(address) === 6 ? 'ipv6' : 'ipv4' }).address;
}

/** Returns the first 64 bits of an IPv6 address, because one client may have all addresses that begin with them. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const ipv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}
