import { environmentProxy, findInvalidVariables } from '../../client/delivery/proxy-environment.util.js';
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

/** Returns the faults of the variables that `'environment'` selects. */
export function findEnvironmentFaults(): string[] {
  return findInvalidVariables().map(
    (name) => `delivery.proxy is 'environment', so ${name} must be the http or https URL of a proxy`,
  );
}

/** Returns the proxy choice for `delivery.proxy`. It has read the environment. */
export function proxyChoice(option: string | undefined): ProxyChoice {
  if (option === undefined) return () => undefined;
  if (option === ENVIRONMENT) return environmentProxy((url) => new EgressProxy(url));
  const proxy = new EgressProxy(option);
  return () => proxy;
}
