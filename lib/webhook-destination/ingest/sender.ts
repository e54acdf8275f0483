import type { IncomingMessage } from 'node:http';

/** Maximum length of a `User-Agent`, in characters. */
const MAX_USER_AGENT = 300;

/** A write key in JSON. */
const KEY_MEMBER = /("writeKey"\s*:\s*)"(?:[^"\\]|\\.)*"?/g;

const MASK = '***';

/** The client that posted messages. */
export interface Sender {
  userAgent?: string | undefined;
  /** Masks write keys in a text: the key of the request, and those that the text names as such. */
  conceal: (text: string) => string;
}

/** @param request undefined for messages of this process */
export function toSender(writeKey: string | undefined, request?: IncomingMessage): Sender {
  const userAgent = request?.headers['user-agent']?.slice(0, MAX_USER_AGENT) || undefined;
  const conceal = (text: string) => {
    const masked = text.replace(KEY_MEMBER, `$1"${MASK}"`);
    if (!writeKey) return masked;
    return masked.replaceAll(writeKey, MASK).replaceAll(JSON.stringify(writeKey).slice(1, -1), MASK);
  };
  return { userAgent, conceal };
}
