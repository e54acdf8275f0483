import type { MessageFault } from './message.rules.js';

/** Thrown when a message breaks a rule of §2.2, or a setting a rule of §8. Never holds the value at fault. */
export class ValidationError extends Error {
  /** Path of the field, or name of the setting, at fault. */
  readonly field: string;
  /** The rule's stable name, such as `no_user_anon_id`. */
  readonly code: string;

  constructor(fault: MessageFault) {
    super(fault.message);
    this.name = 'ValidationError';
    this.field = fault.field;
    this.code = fault.code;
  }
}
