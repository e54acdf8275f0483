import { KEY_IS_TOKEN } from '../registry/registry.js';
import type { AdminAccess, AdminOptions } from './admin.options.js';

/** Minimum length of a token in production, in characters: 24 hexadecimal ones have 96 bits. */
export const MIN_TOKEN_LENGTH = 24;

interface TokenOption {
  /** Path of the option, for messages. */
  option: string;
  token: string;
  access: AdminAccess;
  name?: string | undefined;
}

/** Returns the configured tokens; none with a guard. */
export function namedTokens(options: AdminOptions | undefined): TokenOption[] {
  if (!options || 'guard' in options) return [];
  if ('tokens' in options) {
    return options.tokens.map((token, index) => ({ ...token, option: `admin.tokens[${index}].token` }));
  }
  const { token, readToken } = options;
  const writer: TokenOption = { option: 'admin.token', token, access: 'write' };
  if (readToken === undefined) return [writer];
  return [writer, { option: 'admin.readToken', token: readToken, access: 'read' }];
}

/** Returns the options whose tokens are so short that they could be guessed. */
export function shortTokens(options: AdminOptions | undefined): string[] {
  return namedTokens(options).flatMap(({ option, token }) => (token.length < MIN_TOKEN_LENGTH ? [option] : []));
}

/** Returns the faults of tokens that are too short for production or are the write key of a source. */
export function findTokenFaults(options: AdminOptions | undefined, sources: { writeKey: string }[]): string[] {
  const short = process.env.NODE_ENV === 'production' ? shortTokens(options) : [];
  const tokens = namedTokens(options).map(({ token }) => token);
  return [
    ...short.map((option) => `${option} must have ${MIN_TOKEN_LENGTH} characters or more with NODE_ENV=production`),
    ...sources.flatMap(({ writeKey }, index) =>
      tokens.includes(writeKey) ? [`sources[${index}].${KEY_IS_TOKEN}`] : [],
    ),
  ];
}
