import { PackageError } from '../common/relay.errors.js';
import { isAtLeast } from './peer.check.js';

/** Oldest Bun version that passes the transport tests. */
const OLDEST = '1.4.0';

/**
 * Refuses Bun versions before 1.4.0, which connect to addresses that the network policy refuses, and accept
 * certificates of other hosts.
 *
 * @throws {PackageError} naming the required version
 */
export function checkBun(): void {
  const version = process.versions.bun;
  if (version === undefined || isAtLeast(version, OLDEST)) return;
  throw new PackageError(
    'package_unsupported',
    `WebhookDestinationModule needs Bun ${OLDEST} or later, and this is Bun ${version}: ` +
      'older versions do not enforce delivery.allowedNetworks and TLS host names. Upgrade Bun, or use Node',
  );
}
