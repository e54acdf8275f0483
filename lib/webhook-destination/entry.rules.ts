import { isNonEmptyString, isStringMap } from '../common/value.util.js';

/** Maximum number of characters in the name of a source or destination: the stores have names in the keys of indexes. */
const MAX_NAME_LENGTH = 500;

/** Characters that not every store can keep. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Rule of {@link isName}, after `be a non-empty string`. */
export const NAME_LIMITS = `of at most ${MAX_NAME_LENGTH} characters, without NUL characters or lone surrogates`;

export function isName(value: unknown): value is string {
  return isNonEmptyString(value) && value.length <= MAX_NAME_LENGTH && !UNSTORABLE.test(value);
}

/** Limits of metadata: number of entries, and characters of a name and of a value. */
const MAX_ENTRIES = 50;
const MAX_KEY = 40;
export const MAX_METADATA_VALUE = 500;

/** Rule of {@link isMetadata}. */
export const METADATA_RULE = `map at most ${MAX_ENTRIES} names of 1 to ${MAX_KEY} characters to strings of at most ${MAX_METADATA_VALUE} characters`;

/** Whether a value is the metadata of a source or destination. */
export function isMetadata(value: unknown): value is Record<string, string> {
  const isPair = (name: string, text: string) =>
    name !== '' && name.length <= MAX_KEY && text.length <= MAX_METADATA_VALUE;
  return isStringMap(value, isPair) && Object.keys(value).length <= MAX_ENTRIES;
}
