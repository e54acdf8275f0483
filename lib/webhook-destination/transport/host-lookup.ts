import { getDefaultResultOrder, type LookupAddress, promises as dns } from 'node:dns';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

import { within } from '../../common/promise.util.js';
import { isLocalhost, LOCALHOST_ADDRESSES } from '../network.util.js';

/** Wait for the first answer of a server, in ms; doubled for each further try. */
const TIMEOUT = 1_000;

/** Number of queries to each server. */
const TRIES = 3;

/** Wait for the addresses of one family once the other's are known, in ms: some servers never answer one of the queries. */
const OTHER_FAMILY_TIMEOUT = 500;

/** Error codes for a name that DNS does not know; other failures may be temporary. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** Error codes of servers that answer no questions at all: the system may know the name from elsewhere. */
const REFUSED = new Set(['ECONNREFUSED', 'EREFUSED']);

/** Rules of `resolv.conf`. */
interface SearchRules {
  domains: string[];
  /** A name with fewer dots is looked up in the domains first. */
  ndots: number;
}

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
  private readonly search: () => SearchRules;
  /** The servers of the system when this was made; any others in `getServers()` were set by the application. */
  private readonly systemServers = String(new dns.Resolver().getServers());
  private current: { resolver: dns.Resolver; servers: string; rules: SearchRules } | undefined;
  /** The last look-up by the system. */
  private system: Promise<unknown> = Promise.resolve();

  constructor(hostsFile = HOSTS_FILE, resolvConf = '/etc/resolv.conf') {
    this.hosts = systemFile(hostsFile, parseHosts);
    this.search = systemFile(resolvConf, parseSearchRules);
  }

  /**
   * Returns all addresses of a name, in order of preference. Concurrent calls for one name share the answer.
   *
   * @param isComplete whether to reject unless a server answers for both IPv4 and IPv6
   */
  addressesOf(hostname: string, isComplete = false): Promise<LookupAddress[]> {
    const key = `${hostname} ${isComplete}`;
    let answer = this.pending.get(key);
    if (!answer) {
      answer = this.find(hostname, isComplete).finally(() => this.pending.delete(key));
      this.pending.set(key, answer);
    }
    return answer;
  }

  private async find(hostname: string, isComplete: boolean): Promise<LookupAddress[]> {
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family }];
    const listed = this.hosts().get(hostname.toLowerCase());
    if (listed) return listed;
    if (isLocalhost(hostname)) return LOCALHOST_ADDRESSES.map((address) => ({ address, family: isIP(address) }));
    try {
      return await this.askServers(hostname, isComplete);
    } catch (error) {
      if (isUnknown(error, isComplete)) return this.askSystem(hostname);
      throw error;
    }
  }

  /** Queries the DNS servers of `dns.setServers()` or of the system over sockets, which block no thread. */
  private async askServers(hostname: string, isComplete: boolean): Promise<LookupAddress[]> {
    const rules = this.search();
    const resolver = this.currentResolver(rules);
    let failure: unknown;
    for (const name of candidates(hostname, rules)) {
      try {
        return await ask(resolver, name, isComplete);
      } catch (error) {
        // Tenants may see it, whom the search domains of the system do not concern.
        if (error instanceof Error) error.message = error.message.replace(name, () => hostname);
        const isKnown = !isUnknown(error, isComplete);
        if ((isComplete && isKnown) || (error as { code?: unknown }).code === 'ETIMEOUT') throw error;
        if (failure === undefined || isKnown) failure = error;
      }
    }
    throw failure;
  }

  /** Creates a new resolver if the system's servers have changed, because a resolver reads them only once. */
  private currentResolver(rules: SearchRules): dns.Resolver {
    // As a named import, `getServers` would miss servers that were set later.
    const list = dns.getServers();
    const servers = String(list);
    if (this.current?.rules !== rules || this.current.servers !== servers) {
      const resolver = new dns.Resolver({ timeout: TIMEOUT, tries: TRIES });
      if (servers !== this.systemServers) resolver.setServers(list);
      this.current = { resolver, servers, rules };
    }
    return this.current.resolver;
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

/**
 * Whether a failed look-up means that DNS does not know the name.
 *
 * @param isComplete whether a server must have said so, and not have refused to answer
 */
function isUnknown(error: unknown, isComplete: boolean): boolean {
  const code = String((error as { code?: unknown }).code);
  return UNKNOWN.has(code) || (!isComplete && REFUSED.has(code));
}

async function ask(resolver: dns.Resolver, name: string, isComplete: boolean): Promise<LookupAddress[]> {
  const questions = [toAddresses(resolver.resolve4(name), 4), toAddresses(resolver.resolve6(name), 6)];
  await Promise.any(questions).catch(() => undefined);
  const answers = await Promise.allSettled(
    isComplete ? questions : questions.map((question) => within(OTHER_FAMILY_TIMEOUT, question, name)),
  );
  const lists = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  const failure = failures.find((reason) => !isUnknown(reason, isComplete)) ?? failures[0];
  if (lists.length === 0 || (isComplete && failure !== undefined && !isUnknown(failure, true))) throw failure;
  if (prefersIpv6()) lists.reverse();
  return lists.flat();
}

async function toAddresses(answer: Promise<string[]>, family: number): Promise<LookupAddress[]> {
  return (await answer).map((address) => ({ address, family }));
}

/**
 * Returns whether IPv6 addresses come first. By default, as in the system's look-up, they do if this machine has a
 * public IPv6 address (RFC 6724).
 */
function prefersIpv6(): boolean {
  const order: string = getDefaultResultOrder();
  if (order !== 'verbatim') return order === 'ipv6first';
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.some(({ family, address }) => family === 'IPv6' && /^[23]/.test(address));
}

function candidates(hostname: string, { domains, ndots }: SearchRules): string[] {
  if (hostname.endsWith('.')) return [hostname];
  const inDomains = domains.map((domain) => `${hostname}.${domain}`);
  return hostname.split('.').length > ndots ? [hostname, ...inDomains] : [...inDomains, hostname];
}

function parseSearchRules(lines: string[][]): SearchRules {
  const rules: SearchRules = { domains: [], ndots: 1 };
  for (const [keyword, ...values] of lines) {
    if (keyword === 'search' || keyword === 'domain') rules.domains = values.filter((domain) => domain !== '.');
    if (keyword !== 'options') continue;
    for (const option of values) {
      const [, ndots] = /^ndots:(\d+)$/.exec(option) ?? [];
      if (ndots !== undefined) rules.ndots = Number(ndots);
    }
  }
  return rules;
}

/**
 * Returns a reader of a system configuration file. The content is parsed again, into a new object, only if the file has
 * changed; a missing or unreadable file counts as empty.
 *
 * @param parse receives the words of each line, without comments
 */
function systemFile<T>(path: string, parse: (lines: string[][]) => T): () => T {
  let version = '';
  let content = parse([]);
  return () => {
    let text = '';
    try {
      const { ino, size, mtimeMs } = statSync(path);
      if (version === `${ino} ${size} ${mtimeMs}`) return content;
      version = `${ino} ${size} ${mtimeMs}`;
      text = readFileSync(path, 'utf8');
    } catch {
      if (version === 'missing') return content;
      version = 'missing';
    }
    const lines = text.split('\n').map((line) =>
      line
        .replace(/[#;].*/, '')
        .split(/\s+/)
        .filter(Boolean),
    );
    return (content = parse(lines));
  };
}
