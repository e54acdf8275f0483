import { installedVersion } from './installed-version.util.cjs';
import { PackageError } from './relay.errors.js';

/**
 * Oldest supported version of each supported major of the optional packages. Checked when a package is used: ranges in
 * `peerDependencies` would keep out applications that use another version only for themselves.
 */
const SUPPORTED = { axios: ['1.3.1'], bullmq: ['6.7.0'], ioredis: ['5.4.0', '6.0.0'], pg: ['8.11.0'] };

/** Oldest Bun version that passes the transport tests. */
const OLDEST_BUN = '1.4.0';

type CheckedPeer = keyof typeof SUPPORTED;

/**
 * Checks the version of an optional package, if it is installed.
 *
 * @param user what needs the package, to be named in the error
 * @throws {PackageError} that names the installed version and the version to install
 */
export function checkPeer(user: string, name: CheckedPeer): void {
  const installed = installedVersion(name);
  const supported = SUPPORTED[name];
  if (installed === undefined || supported.some((oldest) => isSupported(installed, oldest))) return;
  const range = supported.map((oldest) => `^${oldest}`).join(' || ');
  const newest = majorOf(supported.at(-1)!);
  const fault = `${user} needs ${name} ${range}, but ${installed} is installed: npm install ${name}@${newest}`;
  throw new PackageError('package_unsupported', fault);
}

function isSupported(installed: string, oldest: string): boolean {
  return majorOf(installed) === majorOf(oldest) && isAtLeast(installed, oldest);
}

function majorOf(version: string): string {
  return version.split('.', 1)[0]!;
}

export function isAtLeast(version: string, oldest: string): boolean {
  return version.localeCompare(oldest, 'en', { numeric: true }) >= 0;
}

/**
 * Refuses Bun versions before 1.4.0, which connect to addresses that the network policy refuses, and accept
 * certificates of other hosts.
 *
 * @throws {PackageError} naming the required version
 */
export function checkBun(): void {
  const version = process.versions.bun;
  if (version === undefined || isAtLeast(version, OLDEST_BUN)) return;
  throw new PackageError(
    'package_unsupported',
    `WebhookDestinationModule needs Bun ${OLDEST_BUN} or later, and this is Bun ${version}: ` +
      'older versions do not enforce delivery.allowedNetworks and TLS host names. Upgrade Bun, or use Node',
  );
}
