import type { MessageFault } from './message.rules.js';

/** Thrown by `identify`, `track` and the others when a message breaks a rule of §2.2. */
export class ValidationError extends Error {
  /** Path of the field at fault. */
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
