import { concealAddresses } from '../network.util.js';
import type { KeptAnswer } from '../queue/attempt-record.interface.js';
import { KEPT_BYTES, type TargetResponse } from '../transport/webhook-transport.interface.js';
import type { WebhookTarget } from '../transport/webhook-target.js';
import { isShownHeader, MASK } from './request-preview.util.js';

/** Minimum length of a secret, and of a word of a header that may be one, in characters. */
const MIN_SECRET = 4;
const MIN_WORD = 8;

/** Matches control characters that only binary content has. */
// eslint-disable-next-line no-control-regex
const BINARY = /[\0-\x07\x0e-\x1a\x1c-\x1f]/;

/** Matches a media type, and then its charset. */
const TYPE = /^\s*([\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60})(?:[^]*?;\s*charset="?([\w.:-]+))?/i;

/** Matches a character as HTML, URLs, JSON and JavaScript escape it. */
const ESCAPED =
  /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|apos|equals|gt|lt|plus|quot|sol));?|((?:%[\da-f]{2})+)|\\(?:u([\da-f]{4})|x([\da-f]{2})|(["'/\\]))/gi;

/** Matches the beginning of such a character at the end of a text that is cut. */
const BEGUN = /(?:&#?\w{0,7}|%[\da-f]?|\\(?:u[\da-f]{0,3}|x[\da-f]?)?)$/i;

const NAMED: Record<string, string> = {
  amp: '&',
  apos: "'",
  equals: '=',
  gt: '>',
  lt: '<',
  plus: '+',
  quot: '"',
  sol: '/',
};

/** How often a text may have been escaped: JSON in an attribute of HTML is twice. */
const ESCAPES = 3;

/** Returns what is kept of an answer other than 2xx; undefined if it has no body. Never throws. */
export function keepAnswer(
  { headers, body, size, sent = {}, fault }: TargetResponse,
  target: WebhookTarget,
  sharedSecrets: readonly string[],
): KeptAnswer | undefined {
  if (!(body instanceof Uint8Array) || body.length === 0) return undefined;
  const [, type, charset] = TYPE.exec(String(headers?.['content-type'])) ?? [];
  const text = headers?.['content-encoding'] ? undefined : decode(body.subarray(0, KEPT_BYTES), charset);
  const isCut = fault !== undefined || body.length >= KEPT_BYTES;
  return {
    ...(type && { type: type.toLowerCase() }),
    ...(text && { text: conceal(text, secretsOf(sent, target, sharedSecrets), isCut) }),
    bytes: size ?? body.length,
  };
}

/** Returns bytes as text; undefined if they are binary. */
function decode(bytes: Uint8Array, charset: string | undefined): string | undefined {
  let decoder = new TextDecoder();
  try {
    decoder = new TextDecoder(charset);
  } catch {
    // An unknown charset: most texts are UTF-8.
  }
  const text = decoder.decode(bytes, { stream: true }); // its last character may be cut
  return BINARY.test(text) ? undefined : text;
}

/** Replaces secrets and private addresses by `***`. A text that hides some behind escapes is returned without these. */
function conceal(text: string, secrets: string[], isCut: boolean): string {
  const shown = concealPlain(isCut ? text.replace(BEGUN, '') : text, secrets, isCut);
  const plain = unescaped(shown);
  const concealed = concealPlain(plain, secrets, isCut);
  return concealed === plain ? shown : concealed;
}

/** As above, where nothing is escaped; also removes the beginning of a secret at the end of a text that is cut. */
function concealPlain(text: string, secrets: string[], isCut: boolean): string {
  let shown = secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
  if (isCut) {
    const begun = Math.max(0, ...secrets.map((secret) => lengthAtEnd(shown, secret)));
    shown = shown.slice(0, shown.length - begun).replace(/(?<![\da-f:.])[\da-f:.]+$/i, '');
  }
  return concealAddresses(shown);
}

function unescaped(text: string): string {
  let plain = text;
  for (let pass = 0; pass < ESCAPES; pass++) {
    plain = plain.replace(ESCAPED, (_all, hex, decimal, name, bytes, unicode, byte, itself) => {
      if (name) return NAMED[(name as string).toLowerCase()]!;
      if (bytes) return Buffer.from((bytes as string).replaceAll('%', ''), 'hex').toString();
      if (itself) return itself as string;
      const code = decimal ? Number(decimal) : Number.parseInt((hex ?? unicode ?? byte) as string, 16);
      return String.fromCodePoint(Math.min(code, 0x10_ffff));
    });
  }
  return plain;
}

/** Returns how much of the beginning of a secret is at the end of a text. */
function lengthAtEnd(text: string, secret: string): number {
  let length = Math.min(secret.length - 1, text.length);
  while (length >= MIN_SECRET && !text.endsWith(secret.slice(0, length))) length--;
  return length < MIN_SECRET ? 0 : length;
}

/** Returns what a receiver may repeat of a request and nobody may read, longest first. */
function secretsOf(sent: Record<string, string>, { url, shown }: WebhookTarget, sharedSecrets: readonly string[]) {
  const { pathname, searchParams } = new URL(url);
  const shownParts = new Set(shown.split('/'));
  const values = Object.entries(sent).flatMap(([name, value]) => (isShownHeader(name) ? [] : [value]));
  const secrets = [
    ...values,
    ...values.flatMap((value) => value.split(/[\s,;]+/)).filter((word) => word.length >= MIN_WORD),
    ...values.flatMap(credentialsOf),
    ...sharedSecrets.flatMap((secret) => [secret, secret.replace(/^wh(sec|sk)_/, '')]),
    ...pathname.split('/').filter((part) => !shownParts.has(part)),
    ...searchParams.values(),
  ];
  const spellings = secrets.flatMap((secret) => [secret, secret.replaceAll(' ', '+')]); // as forms spell them
  const found = new Set(spellings.filter(({ length }) => length >= MIN_SECRET));
  return [...found].sort((a, b) => b.length - a.length);
}

/** Returns the user info of a Basic authorization, and its password. */
function credentialsOf(header: string): string[] {
  const [, encoded] = /^basic (.+)$/i.exec(header) ?? [];
  if (encoded === undefined) return [];
  const userInfo = Buffer.from(encoded, 'base64').toString();
  return [userInfo, userInfo.slice(userInfo.indexOf(':') + 1)];
}
