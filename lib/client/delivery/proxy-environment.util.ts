import { BlockList, isIP } from 'node:net';

/** Whether a value is the URL of a proxy: http or https, with credentials or without. */
export function isProxyUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !/^https?:\/\/[^\s\\/?#]+\/?$/i.test(value)) return false;
  try {
    const { username, password } = new URL(value);
    return decodeURIComponent(username + password) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the name and value of the environment variable with the proxy for a scheme. */
function variable(protocol: string): [name: string, value: string | undefined] {
  const upper = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const name = process.env[upper.toLowerCase()] === undefined ? upper : upper.toLowerCase();
  const value = process.env[name]?.trim();
  if (value === undefined || value === '') return [name, undefined];
  return [name, value.includes('://') ? value : `http://${value}`];
}

/** Returns the names of the proxy variables whose value is not the URL of a proxy. */
export function findInvalidVariables(): string[] {
  return ['https:', 'http:']
    .map(variable)
    .filter(([, value]) => value !== undefined && !isProxyUrl(value))
    .map(([name]) => name);
}

/** Returns a function that finds the proxy for a URL. It has read the environment, which must be valid. */
export function environmentProxy<T>(create: (proxy: string) => T): (url: URL) => T | undefined {
  const isDirect = readNoProxy();
  const [https, http] = ['https:', 'http:'].map((protocol) => {
    const [, url] = variable(protocol);
    return url === undefined ? undefined : create(url);
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
  const networks = toBlockList(entries.filter((entry) => entry.includes('/')));
  const hosts = entries.map((entry) => {
    const [, host = entry, port] = /^(.*[^:]):(\d+)$/.exec(entry) ?? [];
    return isIP(entry) === 6 ? { host: entry } : { host: host.replace(/^\*?\.|[[\]]/g, ''), port };
  });
  return (url) => {
    const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const urlPort = url.port || (url.protocol === 'https:' ? '443' : '80');
    const version = isIP(hostname);
    if (version !== 0 && networks.check(hostname, version === 6 ? 'ipv6' : 'ipv4')) return true;
    return hosts.some(
      ({ host, port = urlPort }) =>
        host === '*' || (port === urlPort && (hostname === host || hostname.endsWith(`.${host}`))),
    );
  };
}

/** Other programs that read the variable ignore invalid networks as well. */
function toBlockList(networks: string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = '', prefix] = /^(.*)\/(\d+)$/.exec(network) ?? [];
    try {
      list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4');
    } catch {
      continue;
    }
  }
  return list;
}
