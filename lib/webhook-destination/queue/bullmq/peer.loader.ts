// Each import stands in a `try` block itself: only there does a bundler accept that the package is not installed.

/** @throws {Error} that says how to install the package */
export async function loadBullmq(): Promise<typeof import('bullmq')> {
  try {
    return await import('bullmq');
  } catch (error) {
    throw explain(error, 'bullmq');
  }
}

/** @throws {Error} that says how to install the package */
export async function loadIoredis(): Promise<Pick<typeof import('ioredis'), 'Redis'>> {
  try {
    return await import('ioredis');
  } catch (error) {
    throw explain(error, 'ioredis');
  }
}

/** @throws {Error} that says how to install the package */
export async function loadPg(): Promise<Pick<typeof import('pg'), 'Client'>> {
  try {
    return (await import('pg')).default;
  } catch (error) {
    throw explain(error, 'pg');
  }
}

function explain(cause: unknown, name: string): unknown {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  // What the package itself cannot find, or fails at, is another matter.
  if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(code) || !message.includes(`'${name}'`)) return cause;
  return new Error(`bullmqQueue needs the package ${name}, which is not installed: npm install ${name}`, { cause });
}
