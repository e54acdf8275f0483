import { Must } from '../common/options.rules.js';
import { isNonEmptyString } from '../common/value.util.js';

/** Name of the instance that is used where no other is named. */
export const DEFAULT_INSTANCE = 'default';

/** The rules and defaults of what says where an instance is found. */
export class InstanceOptions {
  @Must('be a non-empty string', isNonEmptyString)
  name: string = DEFAULT_INSTANCE;

  @Must('be true or false', (value) => typeof value === 'boolean')
  isGlobal: boolean = true;
}
