import { PackageError } from '../../common/relay.errors.js';
import { checkPeer } from '../../common/peer.check.js';

/** Named together, so that a second start does not ask for another package. */
const REDIS_PACKAGES = 'bullmq ioredis';

// Each import is directly in a `try` block: only there do bundlers accept that the package is not installed.

/** @throws {PackageError} that says what to install, if the package is missing or its version is not supported */
export async function loadBullmq(): Promise<typeof import('bullmq')> {
  checkPeer('bullmqQueue', 'bullmq');
  try {
    return await import('bullmq');
  } catch (error) {
    throw explain(error, 'bullmqQueue', 'bullmq', REDIS_PACKAGES);
  }
}

/** As {@link loadBullmq}. */
export async function loadIoredis(): Promise<Pick<typeof import('ioredis'), 'Redis'>> {
  checkPeer('bullmqQueue', 'ioredis');
  try {
    return await import('ioredis');
  } catch (error) {
    throw explain(error, 'bullmqQueue', 'ioredis', REDIS_PACKAGES);
  }
}

/** As {@link loadBullmq}. */
export async function loadPg(): Promise<Pick<typeof import('pg'), 'Client' | 'Pool'>> {
  checkPeer('postgresQueue', 'pg');
  try {
    return (await import('pg')).default;
  } catch (error) {
    throw explain(error, 'postgresQueue', 'pg');
  }
}

function explain(cause: unknown, user: string, name: string, packages = name): unknown {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  // The package may be installed but fail to load, for example because a dependency of its own is missing.
  if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(code) || !message.includes(`'${name}'`)) return cause;
  const advice = `${user} needs the package ${name}, which is not installed: npm install ${packages}`;
  return new PackageError('package_missing', advice, { cause });
}
