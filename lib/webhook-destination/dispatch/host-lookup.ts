import { type LookupAddress, promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { join } from 'node:path';

import { isLocalhost, LOCALHOST_ADDRESSES } from '../network.util.js';
import { DnsClient, isUnknown } from './dns.client.js';
import { systemFile } from './system-file.js';

const HOSTS_FILE =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/**
 * Resolves names as `dns.lookup` does, but without its threads: the process has few, and an unresponsive DNS server blocks
 * one for seconds. The hosts file comes first, then DNS; a name unknown to both is left to the system, which may have
 * other sources, such as mDNS.
 */
export class HostLookup {
  private readonly pending = new Map<string, Promise<LookupAddress[]>>();
  private readonly hosts: () => Map<string, LookupAddress[]>;
  private system: Promise<unknown> = Promise.resolve();

  constructor(
    hostsFile = HOSTS_FILE,
    private readonly client = new DnsClient(),
  ) {
    this.hosts = systemFile(hostsFile, parseHosts);
  }

  /** Returns all addresses of a name, in order of preference. Concurrent calls for one name share the answer. */
  addressesOf(hostname: string): Promise<LookupAddress[]> {
    let answer = this.pending.get(hostname);
    if (!answer) {
      answer = this.find(hostname).finally(() => this.pending.delete(hostname));
      this.pending.set(hostname, answer);
    }
    return answer;
  }

  private async find(hostname: string): Promise<LookupAddress[]> {
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family }];
    const listed = this.hosts().get(hostname.toLowerCase());
    if (listed) return listed;
    if (isLocalhost(hostname)) return LOCALHOST_ADDRESSES.map((address) => ({ address, family: isIP(address) }));
    try {
      return await this.client.addressesOf(hostname);
    } catch (error) {
      if (isUnknown(error)) return this.askSystem(hostname);
      throw error;
    }
  }

  /** Looks up one name at a time, so one of the two threads for look-ups is left for the application. */
  private askSystem(hostname: string): Promise<LookupAddress[]> {
    const answer = this.system.then(() => dns.lookup(hostname, { all: true }));
    this.system = answer.catch(() => undefined);
    return answer;
  }
}

function parseHosts(lines: string[][]): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of lines) {
    const family = isIP(address);
    if (family === 0 || address.includes('%')) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}
