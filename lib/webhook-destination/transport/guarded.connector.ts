import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';

// Imported by file: Bun replaces the name 'undici' with a module of its own, which connects to nothing.
import { buildConnector } from 'undici/index.js';

import { RelayError } from '../../client/relay.error.js';
import type { ConnectionOptions } from './connection.options.js';
import type { NetworkPolicy } from './network.policy.js';

/** Available only in newer Node versions. */
const { getCACertificates = publicAndExtra } = tls as { getCACertificates?: (type: 'default') => string[] };

/** Codes of errors of a certificate that no trusted authority signed. */
const UNKNOWN_AUTHORITY =
  /^((DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/;

/**
 * Connects only to allowed addresses. Names are resolved through the policy. The address of the connected socket is
 * checked too, because an address in a URL is not resolved. An untrusted certificate fails before anything is sent.
 *
 * @param timeout maximum wait for a connection, in ms
 * @param ca CA certificates trusted in addition to the public ones, in PEM
 */
export function guardedConnector(
  policy: NetworkPolicy,
  timeout: number,
  ca: ConnectionOptions['ca'],
): buildConnector.connector {
  const connect = verifyingConnector(timeout, ca, policy.lookup);
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const { remoteAddress: address } = socket;
      if (address !== undefined && policy.allows(address)) return callback(null, socket);
      socket.destroy();
      // The receiver may have reset the connection right after the TLS handshake.
      const reset = new RelayError('connection_reset', 'the receiver closed the connection before the request');
      callback(address === undefined ? reset : policy.refusal(address), null);
    });
}

/** Connects to any address; over TLS, only with a trusted certificate. */
export function verifyingConnector(
  timeout: number,
  ca: ConnectionOptions['ca'],
  lookup?: NetworkPolicy['lookup'],
): buildConnector.connector {
  const trusted = ca === undefined ? undefined : [...getCACertificates('default'), ca];
  const connect = buildConnector({
    timeout,
    lookup,
    rejectUnauthorized: true,
    // Made once: reading a hundred certificates for each connection would block the event loop.
    secureContext: trusted && tls.createSecureContext({ ca: trusted.flat() }),
  });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (!error) return callback(null, socket);
      const { code } = error as NodeJS.ErrnoException;
      if (code !== undefined && UNKNOWN_AUTHORITY.test(code)) error.message += '; to trust it, set delivery.ca';
      callback(error, null);
    });
}

/** Returns the certificates that Node trusts by default, as `tls.getCACertificates('default')` does. */
function publicAndExtra(): string[] {
  const file = process.env.NODE_EXTRA_CA_CERTS;
  try {
    return [...tls.rootCertificates, ...(file ? [readFileSync(file, 'utf8')] : [])];
  } catch {
    return [...tls.rootCertificates]; // Node has warned that it cannot read the file
  }
}
