import { MIN_STANDARD_KEY_BYTES, toStandardKey } from '../receiver/webhook-secret.rules.js';
import type { DeliveryOptions } from './delivery.options.js';
import type { DestinationOptions } from './destination.options.js';
import { ENVIRONMENT, findEnvironmentFaults } from './egress-proxy.js';
import { knownAddresses, networksForAddress, NetworkPolicy } from './network.policy.js';
import { isWebhookTransport } from './webhook-transport.interface.js';

/** Returns the faults between options of destinations and of delivery that are each valid on their own. */
export function findDeliveryFaults(destinations: DestinationOptions[], delivery: DeliveryOptions): string[] {
  return [
    ...destinations.flatMap(({ standardWebhooks, sharedSecret }, index) =>
      (standardWebhooks ? findKeyFaults(sharedSecret) : []).map((fault) => `destinations[${index}].${fault}`),
    ),
    ...destinations.flatMap(({ rateLimit, urls }, index) =>
      rateLimit && rateLimit.requests < urls.length
        ? [
            `destinations[${index}].rateLimit must allow at least ${urls.length} requests, one for each of the ${urls.length} URLs`,
          ]
        : [],
    ),
    ...(delivery.initialRetryDelay > delivery.maxRetryDelay
      ? ['delivery.initialRetryDelay must not be above delivery.maxRetryDelay']
      : []),
    ...findUrlFaults(destinations, delivery),
    ...findConnectionFaults(delivery),
  ];
}

/** Returns the faults of secrets as Standard Webhooks keys. */
function findKeyFaults(sharedSecret: DestinationOptions['sharedSecret']): string[] {
  if (sharedSecret === undefined) return ['standardWebhooks requires a sharedSecret'];
  const areKeys = [sharedSecret].flat().every((secret) => toStandardKey(secret) !== undefined);
  return areKeys
    ? []
    : [`sharedSecret must have at least ${MIN_STANDARD_KEY_BYTES} bytes when standardWebhooks is true`];
}

/** Returns the faults of URLs that the network policy refuses, with the setting that allows them. */
function findUrlFaults(destinations: DestinationOptions[], delivery: DeliveryOptions): string[] {
  const policy = new NetworkPolicy(delivery.allowedNetworks, delivery.deniedNetworks);
  const urls = destinations.flatMap(({ urls }, index) =>
    urls.map((url, position) => ({ option: `destinations[${index}].urls[${position}]`, url: new URL(url) })),
  );
  const plain = delivery.httpsOnly ? urls.filter(({ url }) => url.protocol === 'http:') : [];
  const refused = urls.filter(({ url }) => !policy.allowsHost(url));
  const allowable = (url: URL) => knownAddresses(url).filter((address) => !policy.denies(address));
  const networks = refused.flatMap(({ url }) => allowable(url)).flatMap(networksForAddress);
  const rule = 'must not be a private or local address outside delivery.allowedNetworks';
  return [
    ...plain.map(({ option }) => `${option} must be an https URL, because delivery.httpsOnly is true`),
    ...refused.map(({ option, url }) =>
      allowable(url).length === 0
        ? `${option} must not be an address in delivery.deniedNetworks`
        : `${option} ${rule}; to allow it, set ${policy.settingWith(networks)}`,
    ),
  ];
}

/** Returns the faults of the connection settings. */
function findConnectionFaults({ proxy, ca, transport }: DeliveryOptions): string[] {
  const ownOnly = Object.entries({ proxy, ca }).filter(([, value]) => value !== undefined);
  return [
    ...(proxy === ENVIRONMENT ? findEnvironmentFaults() : []),
    ...(isWebhookTransport(transport)
      ? ownOnly.map(
          ([name]) => `delivery.${name} cannot be combined with a WebhookTransport, which makes its own connections`,
        )
      : []),
  ];
}
