/** Maximum length of an error's message, in characters: it may quote text of any length from outside. */
const MAX_MESSAGE = 1_000;

/** Maximum length of a stack, in characters. */
const MAX_STACK = 10_000;

/** Returns the message of a thrown value, of at most 1,000 characters. Never throws, whatever was thrown. */
export function errorMessage(error: unknown): string {
  return textOf(error, messageOf, MAX_MESSAGE);
}

/** Like {@link errorMessage}, with the cause: `fetch` itself says only `fetch failed`. */
export function fetchErrorMessage(error: unknown): string {
  return textOf(
    error,
    (failed) => {
      const { cause } = failed as { cause?: unknown };
      const isOfFetch = failed instanceof TypeError && cause !== undefined;
      return isOfFetch ? `${messageOf(failed)}: ${errorMessage(cause)}` : messageOf(failed);
    },
    MAX_MESSAGE,
  );
}

/** Returns the stack of a thrown value, or else its message. Never throws, whatever was thrown. */
export function errorStack(error: unknown): string {
  return textOf(error, ({ stack, message }) => stack ?? message, MAX_STACK);
}

/** Where a name has several addresses, the error of a failed connection has a code, but no message. */
function messageOf({ message, code }: NodeJS.ErrnoException): string {
  return message || (code ?? '');
}

function textOf(error: unknown, read: (error: Error) => unknown, maxLength: number): string {
  try {
    const text = String(error instanceof Error ? read(error) : error);
    return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  } catch {
    return 'unknown error'; // it cannot become a string, or has an accessor that throws
  }
}
