import { getDefaultResultOrder, type LookupAddress, promises } from 'node:dns';
import { networkInterfaces } from 'node:os';

import { within } from '../../common/time.util.js';
import { systemFile } from './system-file.js';

/** Wait for the first answer of a server, in ms; doubled for each further try. */
const TIMEOUT = 1_000;

/** Number of queries to each server. */
const TRIES = 3;

/** Wait for the addresses of one family once the other's are known, in ms: some servers never answer one of the queries. */
const OTHER_FAMILY_TIMEOUT = 500;

/** Error codes for a name that DNS does not know; other failures may be temporary. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ECONNREFUSED', 'EREFUSED']);

interface SearchRules {
  domains: string[];
  /** A name with fewer dots is looked up in the domains first. */
  ndots: number;
}

/** Whether a failed look-up means that DNS does not know the name. */
export function isUnknown(error: unknown): boolean {
  return UNKNOWN.has(String((error as { code?: unknown }).code));
}

/** Queries the DNS servers of `dns.setServers()` or of the system over sockets, which block no thread. */
export class DnsClient {
  private readonly search: () => SearchRules;
  /** The servers of the system when this client was made; any others in `getServers()` were set by the application. */
  private readonly systemServers = String(new promises.Resolver().getServers());
  private current: { resolver: promises.Resolver; servers: string; rules: SearchRules } | undefined;

  constructor(resolvConf = '/etc/resolv.conf') {
    this.search = systemFile(resolvConf, parseSearchRules);
  }

  /** Returns all addresses of a name, in order of preference; rejects with an error that has the failure's code. */
  async addressesOf(hostname: string): Promise<LookupAddress[]> {
    const rules = this.search();
    const resolver = this.currentResolver(rules);
    let failure: unknown;
    for (const name of candidates(hostname, rules)) {
      try {
        return await ask(resolver, name);
      } catch (error) {
        if ((error as { code?: unknown }).code === 'ETIMEOUT') throw error;
        if (failure === undefined || !isUnknown(error)) failure = error;
      }
    }
    throw failure;
  }

  /** Creates a new resolver if the system's servers have changed, because a resolver reads them only once. */
  private currentResolver(rules: SearchRules): promises.Resolver {
    // As a named import, `getServers` would miss servers that were set later.
    const list = promises.getServers();
    const servers = String(list);
    if (this.current?.rules !== rules || this.current.servers !== servers) {
      const resolver = new promises.Resolver({ timeout: TIMEOUT, tries: TRIES });
      if (servers !== this.systemServers) resolver.setServers(list);
      this.current = { resolver, servers, rules };
    }
    return this.current.resolver;
  }
}

async function ask(resolver: promises.Resolver, name: string): Promise<LookupAddress[]> {
  const questions = [toAddresses(resolver.resolve4(name), 4), toAddresses(resolver.resolve6(name), 6)];
  try {
    await Promise.any(questions);
  } catch (error) {
    const failures = (error as AggregateError).errors as unknown[];
    throw failures.find((failure) => !isUnknown(failure)) ?? failures[0];
  }
  const answers = questions.map((question) => within(OTHER_FAMILY_TIMEOUT, question, name).catch(() => []));
  const lists = await Promise.all(answers);
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
