import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';

import type { IngestOptions } from './ingest.options.js';

/** How long an SDK may cache its settings, in s. */
const MAX_AGE = 300;

const HOST = /^[\w.:[\]-]+$/;

/** Paths of the settings, below the prefix of the routes. */
export const SETTINGS_PATHS = ['/projects/:writeKey/settings', '/v1/projects/:writeKey/settings'];

/** A request for the settings of an SDK. */
export interface SettingsRequest {
  writeKey: string;
  /** Whether the path is below the prefix of the routes. Another path may be one of the application's own. */
  isBelowPrefix: boolean;
}

/** Returns a function that finds the requests for settings by their path. */
export function settingsPaths(prefix: string): (path: string) => SettingsRequest | undefined {
  const pattern = new RegExp(`^/(v1|${prefix.replaceAll('.', '\\.')}(?:/v1)?)/projects/([^/]+)/settings/?$`);
  return (path) => {
    const [, base = '', writeKey = ''] = pattern.exec(path) ?? [];
    if (writeKey === '') return undefined;
    return { writeKey: decode(writeKey), isBelowPrefix: base === prefix || base !== 'v1' };
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Creates the settings that mobile and browser SDKs load before they post. They name the host to post to.
 *
 * @param behindProxy whether the headers of a proxy may be trusted
 */
export function createSettings(
  writeKey: string,
  { prefix, publicUrl }: Pick<IngestOptions, 'prefix' | 'publicUrl'>,
  request: IncomingMessage,
  behindProxy: boolean,
): object {
  const { protocol, host, pathname } = new URL(publicUrl ?? originOf(request, behindProxy));
  const apiHost = `${host}${pathname.replace(/\/+$/, '')}/${prefix}`;
  return {
    integrations: { 'Segment.io': { apiKey: writeKey, apiHost, protocol: protocol.slice(0, -1) } },
    plan: { track: { __default: { enabled: true } } },
    edgeFunction: {},
    middlewareSettings: {},
    enabledMiddleware: {},
    metrics: { sampleRate: 0 },
    analyticsNextEnabled: true,
    legacyVideoPluginsEnabled: false,
    remotePlugins: [],
  };
}

/** Adds the caching headers of settings. */
export function cacheSettings(response: ServerResponse): void {
  response.setHeader('Cache-Control', `private, max-age=${MAX_AGE}`);
  const varied = [response.getHeader('Vary') ?? [], 'X-Forwarded-Host', 'X-Forwarded-Proto'].flat();
  response.setHeader('Vary', varied.join(', '));
}

/** Returns the origin under which the client reached the application. */
function originOf({ headers, socket }: IncomingMessage, behindProxy: boolean): string {
  const forwarded = (name: string) =>
    behindProxy
      ? String(headers[name] ?? '')
          .split(',', 1)[0]!
          .trim()
      : '';
  const isHttps = (socket as TLSSocket | undefined)?.encrypted === true || forwarded('x-forwarded-proto') === 'https';
  const hosts = [forwarded('x-forwarded-host'), headers.host, headers[':authority']?.toString()];
  const origins = hosts.map((host) => `http${isHttps ? 's' : ''}://${HOST.test(host ?? '') ? host : ''}`);
  return origins.find((origin) => URL.canParse(origin)) ?? 'http://localhost';
}
