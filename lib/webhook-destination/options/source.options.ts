import { Must } from '../../common/options.rules.js';
import { isNonEmptyString } from '../../common/value.util.js';

/** Where messages come from: whoever posts with this write key. */
export class SourceOptions {
  /** Names the source in destinations, logs and errors. */
  @Must('be a non-empty string', isNonEmptyString)
  name!: string;

  /** The key that its SDKs send; never logged. */
  @Must('be a non-empty string', isNonEmptyString)
  writeKey!: string;
}
