/** Returns the message of a thrown value, for a log line. Never throws, whatever was thrown. */
export function errorMessage(error: unknown): string {
  return textOf(error, ({ message }) => message);
}

/** Returns the stack of a thrown value, or else its message. Never throws, whatever was thrown. */
export function errorStack(error: unknown): string {
  return textOf(error, ({ stack, message }) => stack ?? message);
}

function textOf(error: unknown, read: (error: Error) => unknown): string {
  try {
    return String(error instanceof Error ? read(error) : error);
  } catch {
    return 'unknown error'; // it cannot become a string, or has an accessor that throws
  }
}
