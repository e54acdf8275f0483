import type { AnalyticsSettings } from './analytics-settings.interface.js';
import { FetchHTTPClient } from './delivery/fetch.http-client.js';
import type { HTTPClient } from './delivery/http-client.interface.js';
import { keepAliveHttpClient } from './delivery/keep-alive.http-client.js';
import { ValidationError } from './message/validation.error.js';
import type { Plugin } from './pipeline/plugin.interface.js';
import { checkPlugin } from './pipeline/plugin.rules.js';

/** Settings as the parts of the library use them: checked, and none missing. */
export interface ResolvedSettings {
  writeKey: string;
  url: string;
  maxRetries: number;
  maxEventsInBatch: number;
  flushInterval: number;
  httpRequestTimeout: number;
  maxQueueSize: number;
  disable: boolean;
  httpClient: HTTPClient;
  plugins: Plugin[];
}

/** The longest time, in milliseconds, that a Node timer can wait; a longer one would end at once. */
export const MAX_TIMER = 2 ** 31 - 1;

/** Where `WebhookDestinationModule` answers on Nest's default port. */
export const DEFAULT_HOST = 'http://localhost:3000';

/**
 * Checks the settings and fills in the defaults of §8. `null` counts as absent.
 *
 * @throws {ValidationError} naming the setting and its rule, never the value.
 */
export function resolveSettings(settings: AnalyticsSettings): ResolvedSettings {
  if (typeof settings !== 'object' || settings === null) throw fault('settings', 'must be an object');
  const plugins = settings.plugins ?? [];
  if (!Array.isArray(plugins)) throw fault('plugins', 'must be an array of plugins');
  plugins.forEach(checkPlugin);
  const batchSetting = settings.flushAt != null ? 'flushAt' : 'maxEventsInBatch';
  return {
    writeKey: nonEmptyString('writeKey', settings.writeKey),
    url: urlOf(settings.host ?? DEFAULT_HOST, settings.path ?? '/v1/batch'),
    maxRetries: integer('maxRetries', settings.maxRetries ?? 3, 0),
    maxEventsInBatch: integer(batchSetting, settings[batchSetting] ?? 15, 1),
    flushInterval: milliseconds('flushInterval', settings.flushInterval ?? 10_000, 0),
    httpRequestTimeout: milliseconds('httpRequestTimeout', settings.httpRequestTimeout ?? 10_000, 1),
    maxQueueSize: integer('maxQueueSize', settings.maxQueueSize ?? 100_000, 1),
    disable: boolean('disable', settings.disable ?? false),
    httpClient: httpClientOf(settings.httpClient),
    plugins,
  };
}

function fault(setting: string, rule: string): ValidationError {
  return new ValidationError({ field: setting, code: 'setting_invalid', message: `${setting} ${rule}` });
}

function nonEmptyString(setting: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw fault(setting, 'must be a non-empty string');
  return value;
}

function boolean(setting: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw fault(setting, 'must be true or false');
  return value;
}

function integer(setting: string, value: unknown, least: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    throw fault(setting, `must be an integer, at least ${least}`);
  }
  return value as number;
}

function milliseconds(setting: string, value: unknown, least: number): number {
  if (typeof value !== 'number' || !(value >= least && value <= MAX_TIMER)) {
    throw fault(setting, `must be a number of milliseconds from ${least} to ${MAX_TIMER}`);
  }
  return value;
}

function urlOf(host: unknown, path: unknown): string {
  const base = parseUrl(nonEmptyString('host', host));
  if (!base || !/^https?:$/.test(base.protocol)) throw fault('host', 'must be an http or https URL');
  if (base.username || base.password || base.search || base.hash) {
    throw fault('host', 'must be a URL without credentials, query and fragment');
  }
  if (typeof path !== 'string') throw fault('path', 'must be a string');
  const prefix = base.href.replace(/\/+$/, '');
  return new URL(`${prefix}/${path.replace(/^\/+/, '')}`).href;
}

function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function httpClientOf(setting: AnalyticsSettings['httpClient']): HTTPClient {
  if (setting == null) return typeof fetch === 'function' ? new FetchHTTPClient() : keepAliveHttpClient();
  if (typeof setting === 'function') return new FetchHTTPClient(setting);
  if (typeof setting === 'object' && typeof setting.makeRequest === 'function') return setting;
  throw fault('httpClient', 'must be a function such as fetch, or an object with makeRequest');
}
