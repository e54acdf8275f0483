import { IfGiven, Must } from '../../common/options.rules.js';
import { isMetadata, isName, METADATA_RULE, NAME_LIMITS } from '../entry.rules.js';

const isWriteKey = (value: unknown): boolean => typeof value === 'string' && /^[^\s:]+$/.test(value);

/** A source of messages: the clients that post with this write key. */
export class SourceOptions {
  /**
   * Name of the source in destinations, logs and errors, and in the signed `webhook-id`. Must be unique, with at most
   * 500 characters, without NUL characters or lone surrogates.
   */
  @Must(`be a non-empty string ${NAME_LIMITS}`, isName)
  name!: string;

  /**
   * Write key that the source's SDKs send; never logged. Must be unique, without colons and white space.
   * @see docs/ingest.md, "Key, content type, encoding"
   */
  @Must('be a non-empty string without colons or white space', isWriteKey)
  writeKey!: string;

  /**
   * Application data about the source, such as a tenant id: at most 50 strings of at most 500 characters, with names of
   * at most 40 characters. With the option `portal`, it says whose endpoints receive the source's messages. Default: none.
   * @see docs/portal.md, "Which events a tenant gets"
   */
  @IfGiven()
  @Must(METADATA_RULE, isMetadata)
  metadata?: Record<string, string>;
}
