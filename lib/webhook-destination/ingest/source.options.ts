import { Must } from '../../common/options.rules.js';
import { isNonEmptyString } from '../../common/value.util.js';

const isWriteKey = (value: unknown): boolean => typeof value === 'string' && /^[^\s:]+$/.test(value);

/** Where messages come from: the clients that post with this write key. */
export class SourceOptions {
  /** Names the source in destinations, logs and errors. */
  @Must('be a non-empty string', isNonEmptyString)
  name!: string;

  /** The key that its SDKs send, as a Basic user name for one, which ends at a colon; never logged. */
  @Must('be a non-empty string without colon and white space', isWriteKey)
  writeKey!: string;
}
