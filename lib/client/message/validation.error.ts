import { RelayError } from '../relay.error.js';
import type { MessageFault } from './message.rules.js';

/**
 * Thrown when a message breaks a rule. Never contains the invalid value. `code` is the stable name of the rule, such as
 * `no_user_anon_id`. `OptionsError` is its subclass for options.
 *
 * @see docs/specification.md, "Messages"
 */
export class ValidationError extends RelayError {
  override readonly name: string = 'ValidationError';
  /** Path of the invalid field or option. */
  readonly field: string;

  constructor(fault: MessageFault, options?: { cause?: unknown }) {
    super(fault.code, fault.message, options);
    this.field = fault.field;
  }
}
