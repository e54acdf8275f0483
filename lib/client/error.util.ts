/** Returns the message of a thrown value, for a log line. Never throws, whatever was thrown. */
export function errorMessage(error: unknown): string {
  return textOf(error, messageOf);
}

/** Like {@link errorMessage}, with the cause: `fetch` itself says only `fetch failed`. */
export function fetchErrorMessage(error: unknown): string {
  return textOf(error, (failed) => {
    const { cause } = failed as { cause?: unknown };
    const isOfFetch = failed instanceof TypeError && cause !== undefined;
    return isOfFetch ? `${messageOf(failed)}: ${errorMessage(cause)}` : messageOf(failed);
  });
}

/** Returns the stack of a thrown value, or else its message. Never throws, whatever was thrown. */
export function errorStack(error: unknown): string {
  return textOf(error, ({ stack, message }) => stack ?? message);
}

/** Where a name has several addresses, the error of a failed connection has a code, but no message. */
function messageOf({ message, code }: NodeJS.ErrnoException): string {
  return message || (code ?? '');
}

function textOf(error: unknown, read: (error: Error) => unknown): string {
  try {
    return String(error instanceof Error ? read(error) : error);
  } catch {
    return 'unknown error'; // it cannot become a string, or has an accessor that throws
  }
}
