import type { AnalyticsSettings } from './analytics-settings.interface.js';
import { FetchHTTPClient } from './delivery/fetch.http-client.js';
import type { HTTPClient } from './delivery/http-client.interface.js';
import { keepAliveHttpClient } from './delivery/keep-alive.http-client.js';
import { isFetchProxied, usesProxies } from './delivery/proxied-agent.js';
import type { EventDefaults } from './message/message.interface.js';
import { toJson } from './message/message-json.util.js';
import { isNonEmptyString, isPlainObject } from './message/message.rules.js';
import { throwFaults } from './options.error.js';
import { findPluginFaults } from './pipeline/plugin.rules.js';
import { isClientTelemetry } from './telemetry/client-telemetry.interface.js';
import { MAX_TIMER_DELAY } from './timer.limits.js';

/** URL of `WebhookDestinationModule` on Nest's default port. */
export const DEFAULT_HOST = 'http://localhost:3000';

/** Returns the rule that a value breaks, to follow the setting's name in an error. */
type Rule = (value: unknown) => string | undefined;

/** In the order in which their faults are reported. */
const RULES: Record<keyof AnalyticsSettings, Rule> = {
  writeKey: must('be a non-empty string', isNonEmptyString),
  host: findHostFault,
  path: must('be a string', (value) => typeof value === 'string'),
  maxRetries: integer(0),
  maxEventsInBatch: integer(1),
  flushAt: integer(1),
  flushInterval: milliseconds(0),
  httpRequestTimeout: milliseconds(1),
  maxQueueSize: integer(1),
  disable: must('be true or false', (value) => typeof value === 'boolean'),
  httpClient: must('be a function such as fetch, or an object with a makeRequest method', isHttpClient),
  plugins: must('be an array of plugins', Array.isArray),
  defaults: must('be an object whose properties and context are objects that JSON can represent', isDefaults),
  beforeSend: must('be a function', (value) => typeof value === 'function'),
  telemetry: must('be the return value of openTelemetry(), or an object with a send method', isClientTelemetry),
};

export const SETTING_NAMES = Object.keys(RULES) as (keyof AnalyticsSettings)[];

/** Returns the rules that settings break, each as `path rule`, without values. `null` counts as absent. */
export function findSettingFaults(settings: unknown): string[] {
  if (typeof settings !== 'object' || settings === null) return ['settings must be an object'];
  const given = settings as Record<string, unknown>;
  const faults = SETTING_NAMES.flatMap((name) => {
    const isAbsent = given[name] == null && name !== 'writeKey';
    const broken = isAbsent ? undefined : RULES[name](given[name]);
    return broken === undefined ? [] : [`${name} ${broken}`];
  });
  return Array.isArray(given.plugins) ? [...faults, ...given.plugins.flatMap(findPluginFaults)] : faults;
}

/**
 * Validates the settings and applies the defaults. `null` counts as absent.
 *
 * @throws {OptionsError} naming the invalid settings and their rules, never a value.
 */
export function resolveSettings(settings: AnalyticsSettings) {
  throwFaults('Analytics', findSettingFaults(settings));
  return {
    writeKey: settings.writeKey,
    url: joinUrl(settings.host ?? DEFAULT_HOST, settings.path ?? '/v1/batch'),
    isDefaultHost: settings.host == null,
    maxRetries: settings.maxRetries ?? 3,
    maxEventsInBatch: settings.flushAt ?? settings.maxEventsInBatch ?? 15,
    flushInterval: settings.flushInterval ?? 10_000,
    httpRequestTimeout: settings.httpRequestTimeout ?? 10_000,
    maxQueueSize: settings.maxQueueSize ?? 100_000,
    disable: settings.disable ?? false,
    httpClient: toHttpClient(settings.httpClient),
    plugins: settings.plugins ?? [],
    defaults: settings.defaults && copyOf(settings.defaults),
    beforeSend: settings.beforeSend ?? undefined,
    telemetry: settings.telemetry ?? undefined,
  };
}

function must(rule: string, holds: (value: unknown) => boolean): Rule {
  return (value) => (holds(value) ? undefined : `must ${rule}`);
}

function integer(least: number): Rule {
  return must(`be an integer, at least ${least}`, (value) => Number.isSafeInteger(value) && (value as number) >= least);
}

function milliseconds(least: number): Rule {
  return must(
    `be a number of milliseconds from ${least} to ${MAX_TIMER_DELAY}`,
    (value) => typeof value === 'number' && value >= least && value <= MAX_TIMER_DELAY,
  );
}

function findHostFault(value: unknown): string | undefined {
  if (!isNonEmptyString(value)) return 'must be a non-empty string';
  const base = parseUrl(value);
  if (!base || !/^https?:$/.test(base.protocol)) return 'must be an http or https URL';
  const hasMore = base.username || base.password || base.search || base.hash;
  return hasMore ? 'must be a URL without credentials, query or fragment' : undefined;
}

function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function joinUrl(host: string, path: string): string {
  const prefix = new URL(host).href.replace(/\/+$/, '');
  return new URL(`${prefix}/${path.replace(/^\/+/, '')}`).href;
}

function isHttpClient(value: unknown): boolean {
  return typeof value === 'function' || typeof (value as Partial<HTTPClient>).makeRequest === 'function';
}

function isDefaults(value: unknown): boolean {
  try {
    const { properties = {}, context = {}, ...others } = copyOf(value as EventDefaults);
    return isPlainObject(properties) && isPlainObject(context) && Object.keys(others).length === 0;
  } catch {
    return false;
  }
}

function copyOf(defaults: EventDefaults): EventDefaults {
  return JSON.parse(toJson(defaults)) as EventDefaults;
}

function toHttpClient(setting: AnalyticsSettings['httpClient']): HTTPClient {
  if (setting == null) {
    const isFetchUsable = typeof fetch === 'function' && (!usesProxies() || isFetchProxied());
    return isFetchUsable ? new FetchHTTPClient() : keepAliveHttpClient();
  }
  return typeof setting === 'function' ? new FetchHTTPClient(setting) : setting;
}
