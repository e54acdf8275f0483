import type { ErrorCode } from '../client/error.codes.js';
import { errorMessage } from '../client/error.util.js';
import { RelayError } from '../client/relay.error.js';

/** @internal Message of an unknown write key, wherever it is reported. */
export const WRITE_KEY_UNKNOWN = 'no source has this write key';

/** @internal Message of a request without a write key. Its code is that of an unknown one. */
export const WRITE_KEY_MISSING =
  'the request has no write key: send it as the Basic user name, as a Bearer token or as writeKey in the body';

/** Thrown when no source has the write key. Its code is `write_key_unknown`. */
export class UnknownWriteKeyError extends RelayError {
  override readonly name = 'UnknownWriteKeyError';

  constructor() {
    super('write_key_unknown', WRITE_KEY_UNKNOWN);
  }
}

/** @internal An error of an argument that the present state refuses, such as the name of an entry that exists already. */
export class FieldError extends RelayError {
  /** @param field the argument or option at fault, which the answers of the admin API have */
  constructor(
    code: ErrorCode,
    message: string,
    readonly field: string,
  ) {
    super(code, message);
  }
}

/** Thrown when the module, queue or connection is closed, or the application is shutting down. Its code is `closed`. */
export class ClosedError extends RelayError {
  override readonly name = 'ClosedError';

  constructor(message: string) {
    super('closed', message);
  }
}

/**
 * Thrown when the queue cannot currently accept, read or record deliveries. Its code is `queue_unavailable`, or a
 * subclass's.
 */
export class QueueUnavailableError extends RelayError {
  override readonly name: string = 'QueueUnavailableError';

  constructor(message: string, { code, cause }: { code?: ErrorCode; cause?: unknown } = {}) {
    super(code ?? 'queue_unavailable', message, cause === undefined ? undefined : { cause });
  }
}

/** The queue has reached its size limit; it accepts messages again once it is smaller. The code is `queue_full`. */
export class QueueFullError extends QueueUnavailableError {
  override readonly name = 'QueueFullError';

  constructor(message: string) {
    super(message, { code: 'queue_full' });
  }
}

/**
 * Thrown by `accept()` when the queue stores a part of the messages and then fails. Its code is `partly_accepted`;
 * `cause` is the error of the queue. A repeated call with the same messages stores the others, as far as they have a
 * `messageId`.
 */
export class PartlyAcceptedError extends QueueUnavailableError {
  override readonly name = 'PartlyAcceptedError';

  /** @param accepted number of messages that are certainly stored for all their destinations */
  constructor(
    readonly accepted: number,
    total: number,
    cause: unknown,
  ) {
    const state = `at least ${accepted} of ${total} messages are stored, but not all (${errorMessage(cause)})`;
    super(`${state}; repeat the call: messages with a messageId are not stored twice`, {
      code: 'partly_accepted',
      cause,
    });
  }
}

/**
 * Thrown when events cannot be recorded in a transaction of the application. Its code is `transaction_invalid`, or that
 * of PostgreSQL if the transaction is to be repeated, such as `40001`. The message says what to pass, and whether the
 * transaction is aborted.
 */
export class TransactionError extends RelayError {
  override readonly name = 'TransactionError';

  constructor(message: string, code = 'transaction_invalid') {
    super(code as ErrorCode, message);
  }
}

/**
 * How the message of an address that the network policy refuses begins, and the dead-letter reason of its delivery. The
 * configuration is at fault, not the receiver: once the options are corrected, the next start replays the delivery.
 */
export const ADDRESS_NOT_ALLOWED = 'address not allowed by delivery.allowedNetworks';

/** Thrown when the network policy refuses an address. Its code is `address_not_allowed`. */
export class AddressNotAllowedError extends RelayError {
  override readonly name = 'AddressNotAllowedError';

  constructor(message: string) {
    super('address_not_allowed', message);
  }
}

/** Thrown when a method argument breaks a rule. Its code is `argument_invalid`; the message names the field. */
export class ArgumentError extends RelayError {
  override readonly name = 'ArgumentError';

  constructor(message: string) {
    super('argument_invalid', message);
  }
}

/**
 * Thrown when an optional package is missing or its version is not supported. Its code is `package_missing` or
 * `package_unsupported`.
 */
export class PackageError extends RelayError {
  override readonly name = 'PackageError';

  constructor(code: 'package_missing' | 'package_unsupported', message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}
