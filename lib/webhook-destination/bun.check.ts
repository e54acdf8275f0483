import { isAtLeast } from '../common/peer.check.js';
import { PackageError } from '../common/relay.errors.js';

/** Oldest Bun that passes the tests of the transports. */
const OLDEST = '1.4.0';

/**
 * Refuses a Bun that does not keep the rules of delivery: before 1.4.0 it connects to addresses that the network policy
 * refuses, and takes the certificate of another host.
 *
 * @throws {PackageError} that says which version is needed
 */
export function checkBun(version: string | undefined = process.versions.bun): void {
  if (version === undefined || isAtLeast(version, OLDEST)) return;
  throw new PackageError(
    'package_unsupported',
    `WebhookDestinationModule needs Bun ${OLDEST} or later, and this is Bun ${version}: ` +
      'older versions do not enforce delivery.allowedNetworks and TLS host names. Upgrade Bun, or use Node',
  );
}
