import { isStringMap } from '../common/value.util.js';

/** Limits of metadata: number of entries, and characters of a name and of a value. */
const MAX_ENTRIES = 50;
const MAX_NAME = 40;
export const MAX_METADATA_VALUE = 500;

/** Rule of {@link isMetadata}. */
export const METADATA_RULE = `map at most ${MAX_ENTRIES} names of 1 to ${MAX_NAME} characters to strings of at most ${MAX_METADATA_VALUE} characters`;

/** Whether a value is the metadata of a source or destination. */
export function isMetadata(value: unknown): value is Record<string, string> {
  const isPair = (name: string, text: string) =>
    name !== '' && name.length <= MAX_NAME && text.length <= MAX_METADATA_VALUE;
  return isStringMap(value, isPair) && Object.keys(value).length <= MAX_ENTRIES;
}
