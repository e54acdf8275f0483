import { findInvalidVariables } from '../../client/delivery/proxy-environment.util.js';
import { foundOnce } from '../../common/found-once.util.js';
import type { validOptions } from '../../common/options.rules.js';
import { isSymmetric, MIN_STANDARD_KEY_BYTES, toStandardKey } from '../receiver/webhook-secret.rules.js';
import type { DeliveryOptions } from './delivery.options.js';
import { type DestinationOptions, isWebhookUrl } from './destination.options.js';
import { ENVIRONMENT } from '../transport/connection.options.js';
import { knownAddresses, networksForAddress, NetworkPolicy } from '../transport/network.policy.js';
import { isWebhookTransport } from '../transport/webhook-transport.interface.js';

type IsValid = ReturnType<typeof validOptions>;

/** Options that the network policy depends on. */
const NETWORKS = ['delivery.allowedNetworks', 'delivery.deniedNetworks'];

/** A registry may have thousands of destinations, each checked with the same options. */
const policyOf = foundOnce(
  ({ allowedNetworks, deniedNetworks }: DeliveryOptions) => new NetworkPolicy(allowedNetworks, deniedNetworks),
  new WeakMap(),
);

/**
 * Returns the faults between options of destinations and of delivery that are each valid on their own.
 *
 * @param isValid whether an option, by path, breaks no rule of its own
 */
export function findDeliveryFaults(
  destinations: DestinationOptions[],
  delivery: DeliveryOptions,
  isValid: IsValid,
): string[] {
  let advice: string | undefined; // made once, and only for an error
  const advise = () => (advice ??= adviseSetting(destinations, delivery));
  const areValid = (names: (keyof DeliveryOptions)[]) => names.every((name) => isValid(`delivery.${name}`));
  return [
    ...destinations.flatMap((destination, index) =>
      findDestinationFaults(destination, delivery, isValid, `destinations[${index}].`, advise),
    ),
    ...(areValid(['initialRetryDelay', 'maxRetryDelay']) && delivery.initialRetryDelay > delivery.maxRetryDelay
      ? ['delivery.initialRetryDelay must not be above delivery.maxRetryDelay']
      : []),
    ...findConnectionFaults(delivery),
  ];
}

/**
 * Returns the faults between options of one destination, and between them and those of delivery.
 *
 * @param isValid whether an option, by path, breaks no rule of its own
 * @param parent path of the destination's options
 * @param advise returns what is appended to the rule of an address that could be allowed. It names the operator's
 * networks, so it must not reach those who change a registry, such as customers.
 */
export function findDestinationFaults(
  { standardWebhooks, sharedSecret, rateLimit, urls }: DestinationOptions,
  delivery: DeliveryOptions,
  isValid: IsValid,
  parent = '',
  advise = () => '',
): string[] {
  const areValid = (...names: (keyof DestinationOptions)[]) => names.every((name) => isValid(`${parent}${name}`));
  const faults = [
    ...(areValid('standardWebhooks', 'sharedSecret') ? findKeyFaults(standardWebhooks, sharedSecret) : []),
    ...(areValid('rateLimit', 'urls') && rateLimit && rateLimit.requests < urls.length
      ? [`rateLimit must allow at least ${urls.length} requests, one for each of the ${urls.length} URLs`]
      : []),
    ...parseUrls(urls).flatMap((url, position) =>
      url ? findUrlFaults(url, delivery, isValid, advise).map((fault) => `urls[${position}] ${fault}`) : [],
    ),
  ];
  return faults.map((fault) => `${parent}${fault}`);
}

/** Returns undefined in place of what is not a URL. */
function parseUrls(urls: unknown): (URL | undefined)[] {
  return Array.isArray(urls) ? urls.map((url) => (isWebhookUrl(url) ? new URL(url) : undefined)) : [];
}

/** Returns the faults of secrets as Standard Webhooks keys. */
function findKeyFaults(standardWebhooks: boolean | undefined, sharedSecret: DestinationOptions['sharedSecret']) {
  const secrets = [sharedSecret ?? []].flat();
  if (standardWebhooks === false && !secrets.every(isSymmetric)) {
    return ['standardWebhooks must not be false with a whsk_ sharedSecret, which makes no other signature'];
  }
  if (!standardWebhooks) return [];
  if (secrets.length === 0) return ['standardWebhooks requires a sharedSecret'];
  const areKeys = secrets.filter(isSymmetric).every((secret) => toStandardKey(secret) !== undefined);
  return areKeys
    ? []
    : [`sharedSecret must have at least ${MIN_STANDARD_KEY_BYTES} bytes when standardWebhooks is true`];
}

function findUrlFaults(url: URL, delivery: DeliveryOptions, isValid: IsValid, advise: () => string): string[] {
  const plain = isValid('delivery.httpsOnly') && delivery.httpsOnly && url.protocol === 'http:';
  const policy = NETWORKS.every(isValid) ? policyOf(delivery) : undefined;
  return [
    ...(plain ? ['must be an https URL, because delivery.httpsOnly is true'] : []),
    ...(!policy || policy.allowsHost(url) ? [] : [refusalOf(url, policy, advise)]),
  ];
}

function refusalOf(url: URL, policy: NetworkPolicy, advise: () => string): string {
  return allowableAddresses(url, policy).length === 0
    ? 'must not be an address in delivery.deniedNetworks'
    : `must not be a private or local address outside delivery.allowedNetworks${advise()}`;
}

/** Returns the setting that allows all refused addresses, for the errors of the module's options. */
function adviseSetting(destinations: DestinationOptions[], delivery: DeliveryOptions): string {
  const policy = policyOf(delivery);
  const refused = destinations
    .flatMap(({ urls }) => parseUrls(urls))
    .filter((url) => url !== undefined && !policy.allowsHost(url)) as URL[];
  const networks = refused.flatMap((url) => allowableAddresses(url, policy)).flatMap(networksForAddress);
  return `; to allow it, set ${policy.settingWith(networks)}`;
}

function allowableAddresses(url: URL, policy: NetworkPolicy): string[] {
  return knownAddresses(url).filter((address) => !policy.denies(address));
}

/** Returns the faults of the connection settings. */
function findConnectionFaults({ proxy, ca, transport }: DeliveryOptions): string[] {
  const ownOnly = Object.entries({ proxy, ca }).filter(([, value]) => value !== undefined);
  return [
    ...(proxy === ENVIRONMENT ? findInvalidVariables() : []).map(
      (name) => `delivery.proxy is 'environment', so ${name} must be the http or https URL of a proxy`,
    ),
    ...(isWebhookTransport(transport)
      ? ownOnly.map(
          ([name]) => `delivery.${name} cannot be combined with a WebhookTransport, which makes its own connections`,
        )
      : []),
  ];
}
