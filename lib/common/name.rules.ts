import { isNonEmptyString } from './value.util.js';

/** Maximum number of characters in the name of a source or destination: the stores have names in the keys of indexes. */
export const MAX_NAME_LENGTH = 500;

export const isName = (value: unknown): value is string => isNonEmptyString(value) && value.length <= MAX_NAME_LENGTH;
