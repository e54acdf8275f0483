import { isIP } from 'node:net';

import { areNetworks, contains, toBlockList } from '../network.util.js';
import { hasReadableUserInfo } from '../url.util.js';
import { toHostname } from './network.policy.js';
import { basicAuthorization } from './webhook-target.js';

/** Value of `delivery.proxy` that selects the environment variables. */
export const ENVIRONMENT = 'environment';

/** Returns the proxy for a URL; undefined for a direct connection. */
export type ProxyChoice = (url: URL) => EgressProxy | undefined;

/** A proxy for connections. Its credentials are private, so inspecting the object does not show them. */
export class EgressProxy {
  readonly origin: string;
  readonly #authorization: string | undefined;

  /** @param url a URL that {@link isProxyUrl} accepts */
  constructor(url: string) {
    const parsed = new URL(url);
    this.origin = parsed.origin;
    this.#authorization = basicAuthorization(parsed);
  }

  /** Returns the headers of a request for a connection to `authority`. */
  headersFor(authority: string): Record<string, string> {
    return { host: authority, ...(this.#authorization && { 'proxy-authorization': this.#authorization }) };
  }
}

/** Whether a value is the URL of a proxy: http or https, with credentials or without. */
export function isProxyUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^\s\\/?#]+\/?$/i.test(value) && hasReadableUserInfo(value);
}

/** Returns the name and value of the environment variable with the proxy for a scheme. */
function variable(protocol: string): [name: string, value: string | undefined] {
  const upper = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const name = process.env[upper.toLowerCase()] === undefined ? upper : upper.toLowerCase();
  const value = process.env[name]?.trim();
  if (value === undefined || value === '') return [name, undefined];
  return [name, value.includes('://') ? value : `http://${value}`];
}

/** Returns the faults of the variables that `'environment'` selects. */
export function findEnvironmentFaults(): string[] {
  return ['https:', 'http:']
    .map(variable)
    .filter(([, value]) => value !== undefined && !isProxyUrl(value))
    .map(([name]) => `delivery.proxy is 'environment', so ${name} must be the http or https URL of a proxy`);
}

/** Returns the proxy choice for `delivery.proxy`. It has read the environment. */
export function proxyChoice(option: string | undefined): ProxyChoice {
  if (option === undefined) return () => undefined;
  if (option !== ENVIRONMENT) {
    const proxy = new EgressProxy(option);
    return () => proxy;
  }
  const isDirect = readNoProxy();
  const [https, http] = ['https:', 'http:'].map((protocol) => {
    const [, url] = variable(protocol);
    return url === undefined ? undefined : new EgressProxy(url);
  });
  return (url) => (isDirect(url) ? undefined : url.protocol === 'https:' ? https : http);
}

/**
 * Reads `NO_PROXY`. An entry is `*`, a name that includes its subdomains, with or without a leading dot, an address, or
 * a network in CIDR notation; all except networks may have a port.
 */
function readNoProxy(): (url: URL) => boolean {
  const value = process.env['no_proxy'] ?? process.env['NO_PROXY'] ?? '';
  const entries = value
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  // Other programs that read the variable ignore invalid networks as well.
  const networks = toBlockList(entries.filter((entry) => entry.includes('/') && areNetworks([entry])));
  const hosts = entries.map((entry) => {
    const [, host = entry, port] = /^(.*[^:]):(\d+)$/.exec(entry) ?? [];
    return isIP(entry) === 6 ? { host: entry } : { host: host.replace(/^\*?\.|[[\]]/g, ''), port };
  });
  return (url) => {
    const hostname = toHostname(url);
    const urlPort = url.port || (url.protocol === 'https:' ? '443' : '80');
    if (isIP(hostname) !== 0 && contains(networks, hostname)) return true;
    return hosts.some(
      ({ host, port = urlPort }) =>
        host === '*' || (port === urlPort && (hostname === host || hostname.endsWith(`.${host}`))),
    );
  };
}
