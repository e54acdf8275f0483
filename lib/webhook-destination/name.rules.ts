import { isNonEmptyString } from '../common/value.util.js';

/** Maximum number of characters in the name of a source or destination: the stores have names in the keys of indexes. */
const MAX_NAME_LENGTH = 500;

/** Characters that not every store can keep. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Rule of {@link isName}, after `be a non-empty string`. */
export const NAME_LIMITS = `of at most ${MAX_NAME_LENGTH} characters, without NUL characters or lone surrogates`;

export function isName(value: unknown): value is string {
  return isNonEmptyString(value) && value.length <= MAX_NAME_LENGTH && !UNSTORABLE.test(value);
}
