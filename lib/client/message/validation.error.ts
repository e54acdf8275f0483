import { RelayError } from '../relay.error.js';
import type { MessageFault } from './message.rules.js';

/** Thrown when a message breaks a rule of §2.2, or a setting a rule of §8. Never holds the value at fault. `code` is the rule's stable name, such as `no_user_anon_id`. */
export class ValidationError extends RelayError {
  override readonly name = 'ValidationError';
  /** Path of the field, or name of the setting, at fault. */
  readonly field: string;

  constructor(fault: MessageFault) {
    super(fault.code, fault.message);
    this.field = fault.field;
  }
}
