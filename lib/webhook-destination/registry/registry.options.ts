import type { DestinationRegistry } from './destination-registry.interface.js';

/** Minimum length of a registry secret, in characters. */
export const MIN_REGISTRY_SECRET = 16;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const PROVIDERS: Record<string, (value: unknown) => boolean> = {
  useValue: isDestinationRegistry,
  useExisting: (value) => ['string', 'symbol', 'function'].includes(typeof value) && value !== '',
  useClass: isFunction,
  useFactory: isFunction,
};

export function isDestinationRegistry(value: unknown): value is DestinationRegistry {
  return isFunction((value as Partial<DestinationRegistry> | null | undefined)?.load);
}

/** Returns whether a value is `'store'` or a provider of the application's own registry. */
export function isRegistryOption(value: unknown): boolean {
  if (value === 'store') return true;
  if (typeof value !== 'object' || value === null) return false;
  const { inject, ...provider } = value as Record<string, unknown>;
  const [[name, given] = ['', undefined], ...others] = Object.entries(provider);
  if (others.length > 0 || !Object.hasOwn(PROVIDERS, name)) return false;
  return PROVIDERS[name]!(given) && (inject === undefined || (name === 'useFactory' && Array.isArray(inject)));
}

/** Returns whether a value is a secret of sufficient length, or a list of different ones. */
export function areRegistrySecrets(value: unknown): boolean {
  const secrets: unknown[] = [value].flat();
  return (
    secrets.length > 0 &&
    secrets.every((secret) => typeof secret === 'string' && secret.length >= MIN_REGISTRY_SECRET) &&
    new Set(secrets).size === secrets.length
  );
}
