import { parseJson } from '../../common/value.util.js';
import { hmac, isSame, type PortalKeys } from './portal.keys.js';

/** What a token lets its holder do: `'read'`, or `'write'` to read and change. */
export type PortalAccess = 'read' | 'write';

/** What a token says. */
export interface PortalClaims {
  tenant: string;
  access: PortalAccess;
  /** In ms since the epoch. */
  expiresAt: number;
  /** Revision of the tenant's last revocation when the token was made; 0 without one. */
  generation: number;
  person?: string | undefined;
  returnUrl?: string | undefined;
}

/** A payload, as an array, because the token is part of a URL. */
type Payload = [string, 'r' | 'w', number, number, (string | null)?, (string | null)?];

/** Longest token: its texts have at most 3,200 characters, in UTF-8 and base64. */
const MAX_LENGTH = 16_384;

/** Makes and reads tokens: `base64url(payload).base64url(HMAC-SHA256)`. */
export class PortalTokens {
  readonly #key: Buffer;

  constructor(keys: PortalKeys) {
    this.#key = keys.derive('links');
  }

  sign({ tenant, access, expiresAt, generation, person, returnUrl }: PortalClaims): string {
    const isWriter = access === 'write';
    const others = returnUrl === undefined ? (person === undefined ? [] : [person]) : [person ?? null, returnUrl];
    const payload = [tenant, isWriter ? 'w' : 'r', expiresAt, generation, ...others] as Payload;
    const text = Buffer.from(JSON.stringify(payload)).toString('base64url');
    return `${text}.${this.signatureOf(text)}`;
  }

  /** Returns what a token says, even if it has expired; undefined for one that this secret has not signed. */
  read(token: string): PortalClaims | undefined {
    if (token.length > MAX_LENGTH) return undefined;
    const [text = '', signature = '', ...others] = token.split('.');
    // As texts, because base64 decodes others to the same bytes.
    if (others.length > 0 || !isSame(Buffer.from(this.signatureOf(text)), Buffer.from(signature))) return undefined;
    const payload = parseJson(Buffer.from(text, 'base64url').toString()) as Payload;
    const [tenant, access, expiresAt, generation, person, returnUrl] = payload;
    return {
      tenant,
      access: access === 'w' ? 'write' : 'read',
      expiresAt,
      generation,
      person: person ?? undefined,
      returnUrl: returnUrl ?? undefined,
    };
  }
  private signatureOf(text: string): string {
    return hmac(this.#key, text).toString('base64url');
  }
}
