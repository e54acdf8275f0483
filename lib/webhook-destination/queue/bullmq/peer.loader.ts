/**
 * Loads an optional package.
 * @throws {Error} that says how to install it
 */
export async function loadPeer<T>(load: () => Promise<T>, backend: 'redis' | 'postgres'): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const driver = backend === 'redis' ? 'ioredis' : 'pg';
    throw new Error(`bullmqQueue with backend '${backend}' needs two more packages: npm install bullmq ${driver}`, {
      cause,
    });
  }
}
