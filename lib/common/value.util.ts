export { isNonEmptyString, isPlainObject, parseTimestamp } from '../client/message/message.rules.js';

export const isPositiveNumber = (value: unknown): value is number => Number.isFinite(value) && (value as number) > 0;

export const isPositiveInteger = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0;

/** Whether a value is an integer of 0 or above. */
export const isWholeNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Whether a value is an object of strings, each of which passes with its name. */
export function isStringMap(
  value: unknown,
  passes: (name: string, text: string) => boolean,
): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, text]) => typeof text === 'string' && passes(name, text));
}

/** Parses JSON; returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the user info of a URL can be decoded: each percent sign in it begins an escape. False for other text. */
export function hasReadableUserInfo(url: string): boolean {
  try {
    const { username, password } = new URL(url);
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}
