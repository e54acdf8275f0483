import { Worker } from 'node:worker_threads';

import { errorMessage } from '../../client/error.util.js';
import { PackageError } from '../../common/relay.errors.js';
import { findDriver } from './sqlite.driver.cjs';
import type { CopyCheckData, SqliteWorkerData } from './sqlite-worker.interface.js';
import { sqliteWorkerSource } from './sqlite-worker.source.js';

/**
 * Starts a thread that uses SQLite.
 *
 * @param describe converts a reason to the message of an error
 * @throws {PackageError} when `libsql` is not installed
 */
export function startWorker(
  data: Omit<SqliteWorkerData, 'driver'> | Omit<CopyCheckData, 'driver'>,
  describe: (reason: string) => string,
): Worker {
  let driver: string;
  try {
    driver = findDriver();
  } catch (cause) {
    throw new PackageError('package_missing', describe(errorMessage(cause)), { cause });
  }
  return new Worker(sqliteWorkerSource, { eval: true, workerData: { ...data, driver } });
}
