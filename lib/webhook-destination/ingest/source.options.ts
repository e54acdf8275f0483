import { Must } from '../../common/options.rules.js';
import { isNonEmptyString } from '../../common/value.util.js';

const isWriteKey = (value: unknown): boolean => typeof value === 'string' && /^[^\s:]+$/.test(value);

/** Where messages come from: the clients that post with this write key. */
export class SourceOptions {
  /** Names the source in destinations, logs and errors, and in the signed `webhook-id`. Different for each source. */
  @Must('be a non-empty string', isNonEmptyString)
  name!: string;

  /**
   * The key that its SDKs send; never logged. Different for each source, without colon and white space.
   * @see docs/ingest.md, "Key, content type, encoding"
   */
  @Must('be a non-empty string without colon and white space', isWriteKey)
  writeKey!: string;
}
