import { checkPeer, type CheckedPeer } from '../../../common/peer.check.js';

/**
 * Loads an optional package.
 * @throws {Error} that names it and says what to install, where it is missing or its version is not supported
 */
export async function loadPeer<T>(name: CheckedPeer, load: () => Promise<T>): Promise<T> {
  checkPeer('bullmqQueue', name);
  try {
    return await load();
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    // What the package itself cannot find, or fails at, is another matter.
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(code) || !message.includes(`'${name}'`)) throw cause;
    throw new Error(`bullmqQueue needs the package ${name}, which is not installed: npm install ${name}`, { cause });
  }
}
