import { publicKeyOf, type SignatureScheme } from '../receiver/webhook-secret.rules.js';
import type { DestinationManager } from '../registry/destination.manager.js';
import type { Disablement } from '../dispatch/pause.util.js';
import type { DestinationEntry } from '../registry/registry-entry.interface.js';
import type { OpaqueIds } from './opaque-ids.js';
import { DESCRIPTION } from './tenant.endpoints.js';

/** An endpoint as its tenant sees it. */
export interface ShownEndpoint {
  id: string;
  url: string;
  description: string;
  /** Null for all events. */
  events: string[] | null;
  state: 'active' | 'failing' | 'paused' | 'disabled';
  failingSince?: number | undefined;
  /** Set while it is disabled or paused. */
  disabled?: Disablement | undefined;
  signature: SignatureScheme | 'none';
  publicKey?: string | undefined;
  previousSecretUntil?: number | undefined;
  createdAt: number;
}

/** The secrets of an endpoint. Of a private key, the public one is shown. */
export interface ShownSecrets {
  secret?: string | undefined;
  publicKey?: string | undefined;
  previous?: string | undefined;
  previousSecretUntil?: number | undefined;
}

type Documents = Pick<DestinationManager, 'documentOf'>;

export async function showEndpoint(
  entry: DestinationEntry,
  documents: Documents,
  ids: OpaqueIds,
): Promise<ShownEndpoint> {
  const {
    name,
    events,
    metadata,
    signed,
    publicKey,
    failingSince,
    disabled,
    previousSecretUntil,
    createdAt = 0,
  } = entry;
  const { options, followsTenant } = await documents.documentOf(name);
  return {
    id: ids.endpoint(name),
    url: followsTenant ? withoutUserInfo(options.urls?.[0]) : (entry.urls[0] ?? ''),
    description: metadata[DESCRIPTION] ?? '',
    events: events ?? null,
    state: stateOf(entry),
    failingSince,
    disabled,
    signature: !signed ? 'none' : publicKey === undefined ? 'v1' : 'v1a',
    publicKey,
    previousSecretUntil,
    createdAt,
  };
}

export async function showSecrets(name: string, documents: Documents): Promise<ShownSecrets> {
  const { options, previous } = await documents.documentOf(name);
  const [current] = [options.sharedSecret].flat();
  const publicKey = current === undefined ? undefined : publicKeyOf(current);
  const shown = publicKey === undefined ? { secret: current } : { publicKey };
  if (!previous) return shown;
  return { ...shown, previous: publicKeyOf(previous.value) ?? previous.value, previousSecretUntil: previous.until };
}

function stateOf({ enabled, paused, disabled, failingSince }: DestinationEntry): ShownEndpoint['state'] {
  const isPausedByTenant = disabled?.reason === 'paused';
  if (!enabled || (disabled && !isPausedByTenant)) return 'disabled';
  if (paused || isPausedByTenant) return 'paused';
  return failingSince === undefined ? 'active' : 'failing';
}

/** Returns a URL as its tenant gave it, apart from the user info; empty for what a later version has written. */
function withoutUserInfo(text: unknown): string {
  if (typeof text !== 'string' || !URL.canParse(text)) return '';
  const url = new URL(text);
  Object.assign(url, { username: '', password: '' });
  return url.href;
}
