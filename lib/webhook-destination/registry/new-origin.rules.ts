import type { DestinationOptions } from '../dispatch/destination.options.js';

/** The options of a patch that the rule for a new origin concerns. */
type Given = { [K in 'urls' | 'headers' | 'sharedSecret']?: DestinationOptions[K] | null | undefined };

/** Returns an origin (scheme, host and port) of the URLs of a patch that none of the present URLs has. */
export function findNewOrigin(patch: Given, present: Given): string | undefined {
  const known = originsOf(present);
  return originsOf(patch).find((origin) => !known.includes(origin));
}

/**
 * Returns the faults of a patch that does not give again what is concealed: otherwise, who may change the URLs of a
 * destination would receive its headers, and signatures that its receiver accepts.
 */
export function findConcealedFaults(patch: Given, present: Given): string[] {
  const origin = findNewOrigin(patch, present);
  if (origin === undefined) {
    return patch.sharedSecret === undefined
      ? []
      : ['sharedSecret can only be changed with rotateSecret(), or together with urls of a new origin'];
  }
  const cause = `because urls has the new origin ${origin}`;
  return [
    ...(Object.keys(present.headers ?? {}).length > 0 && patch.headers === undefined
      ? [`headers must be given again, or null to remove them, ${cause}`]
      : []),
    ...(present.sharedSecret !== undefined && patch.sharedSecret === undefined
      ? [`sharedSecret must be given, the present one or a new one, or null to generate one, ${cause}`]
      : []),
  ];
}

/** The URLs may be invalid: the document of an entry at fault, or a patch that has not been checked. */
function originsOf({ urls }: Given): string[] {
  return Array.isArray(urls) ? urls.flatMap((url) => originOf(url) ?? []) : [];
}

/** Returns undefined for what is no URL of a destination. */
export function originOf(url: unknown): string | undefined {
  const isUrl = typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url);
  return isUrl ? new URL(url).origin : undefined;
}
