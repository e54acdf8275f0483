import { knownAddresses, networksForAddress, NetworkPolicy } from '../dispatch/network.policy.js';
import { MIN_STANDARD_KEY_BYTES, toStandardKey } from '../receiver/webhook-secret.rules.js';
import type { DestinationOptions } from './destination.options.js';
import type { WebhookDestinationOptions } from './webhook-destination.options.js';

/** Indexes of the values that came before in the list. */
function repeated(values: unknown[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

/** What is wrong with options that are each right by themselves. */
export function findRelationFaults({
  sources,
  destinations,
  delivery,
  queue,
  mode,
}: WebhookDestinationOptions): string[] {
  const names = sources.map(({ name }) => name);
  const keys = sources.map(({ writeKey }) => writeKey);
  return [
    ...(mode !== 'all' && !queue.isShared
      ? ["mode must be 'all' with a queue that only one process can open; the others need one such as bullmqQueue()"]
      : []),
    ...repeated(names).map((index) => `sources[${index}].name must differ from that of every other source`),
    ...repeated(keys).map((index) => `sources[${index}].writeKey must differ from that of every other source`),
    ...repeated(destinations.map(({ name }) => name)).map(
      (index) => `destinations[${index}].name must differ from that of every other destination`,
    ),
    ...destinations.flatMap(({ standardWebhooks, sharedSecret }, index) =>
      (standardWebhooks ? findKeyFaults(sharedSecret) : []).map((fault) => `destinations[${index}].${fault}`),
    ),
    ...(delivery.initialRetryDelay > delivery.maxRetryDelay
      ? ['delivery.initialRetryDelay must not be above delivery.maxRetryDelay']
      : []),
    ...destinations.flatMap(({ sources: wanted = [] }, index) =>
      wanted
        .filter((name) => !names.includes(name))
        .map((name) => `destinations[${index}].sources must name sources of this module; "${name}" is none`),
    ),
    ...findAddressFaults(destinations, delivery.allowedNetworks),
  ];
}

/** What keeps secrets from being keys of Standard Webhooks. */
function findKeyFaults(sharedSecret: DestinationOptions['sharedSecret']): string[] {
  if (sharedSecret === undefined) return ['standardWebhooks must come with a sharedSecret'];
  const areKeys = [sharedSecret].flat().every((secret) => toStandardKey(secret) !== undefined);
  return areKeys
    ? []
    : [`sharedSecret must have at least ${MIN_STANDARD_KEY_BYTES} bytes, with standardWebhooks: true`];
}

/** The URLs whose addresses are known to be refused, each with the setting that allows them all. */
function findAddressFaults(destinations: DestinationOptions[], allowedNetworks: string[]): string[] {
  const policy = new NetworkPolicy(allowedNetworks);
  const refused = destinations.flatMap(({ urls }, index) =>
    urls
      .map((url, position) => ({ option: `destinations[${index}].urls[${position}]`, url: new URL(url) }))
      .filter(({ url }) => !policy.allowsHost(url)),
  );
  const networks = refused.flatMap(({ url }) => knownAddresses(url)).flatMap(networksForAddress);
  const rule = 'must not be a private or local address outside delivery.allowedNetworks';
  return refused.map(({ option }) => `${option} ${rule}; to allow it, set ${policy.settingWith(networks)}`);
}
