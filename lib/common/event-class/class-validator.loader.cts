type ClassValidator = typeof import('class-validator');

/** Returns class-validator at once, which an ES module cannot; undefined if it is not installed. */
export function findClassValidator(): ClassValidator | undefined {
  // Directly in a `try` block: only there do bundlers accept that a package is not installed.
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    return require('class-validator') as ClassValidator;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'MODULE_NOT_FOUND' && message.includes("'class-validator'")) return undefined;
    throw error;
  }
}
