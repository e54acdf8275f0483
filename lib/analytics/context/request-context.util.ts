import type { ExtraContext } from '../../client/index.js';
import type { ContextOptions } from './ambient.options.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';

/** Maximum length of a fact, in characters: a client determines it, and an event has only 32 KB. */
const MAX_TEXT = 256;

/** Maximum length of the path of a page, in characters. */
const MAX_PATH = 1024;

/** Returns the facts of an HTTP request that the options include, without unknown ones. Long facts are cut. */
export function contextOf(request: AnalyticsRequest, options: ContextOptions): ExtraContext {
  if (typeof request.headers !== 'object' || request.headers === null) return {};
  const ip = options.ip && read(request, 'ip');
  const userAgent = options.userAgent && header(request, 'user-agent');
  const locale = options.locale && firstLanguage(header(request, 'accept-language'));
  const page = options.page && pageOf(request);
  return { ...(ip && { ip }), ...(userAgent && { userAgent }), ...(locale && { locale }), ...(page && { page }) };
}

function pageOf(request: AnalyticsRequest): ExtraContext['page'] {
  const { originalUrl } = request;
  if (typeof originalUrl !== 'string') return undefined;
  const path = withoutQuery(originalUrl).slice(0, MAX_PATH);
  const page: ExtraContext['page'] = { path };
  const [protocol, host] = [read(request, 'protocol'), read(request, 'host')];
  if (protocol && host && path.startsWith('/')) page.url = `${protocol}://${host}${path}`;
  const referrer = header(request, 'referer');
  if (referrer) page.referrer = withoutQuery(referrer);
  return page;
}

/** Reads what the platform computes; undefined if it cannot, as of a request without a socket. */
function read(request: AnalyticsRequest, fact: 'ip' | 'protocol' | 'host'): string | undefined {
  try {
    return request[fact]?.slice(0, MAX_TEXT);
  } catch {
    return undefined;
  }
}

function header({ headers }: AnalyticsRequest, name: string): string | undefined {
  const value = headers?.[name];
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : undefined;
}

function withoutQuery(url: string): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}

/** Returns the first language tag: browsers list the preferred one first. */
function firstLanguage(accepted: string | undefined): string | undefined {
  const language = accepted?.split(/[,;]/, 1)[0]?.trim();
  return language === '*' ? undefined : language;
}
