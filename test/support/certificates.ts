import forge from 'node-forge';

/** A server's key and certificate, PEM. */
export interface Certificate {
  key: string;
  cert: string;
}

/** A private certificate authority, and servers on loopback: one it vouches for, and others nobody does. */
export interface Certificates {
  ca: string;
  trusted: Certificate;
  /** The trusted one, sent with that of the authority. */
  chain: Certificate;
  expired: Certificate;
  notYetValid: Certificate;
  wrongName: Certificate;
  selfSigned: Certificate;
}

interface Issued {
  keys: forge.pki.rsa.KeyPair;
  cert: forge.pki.Certificate;
}

const DAY = 24 * 60 * 60 * 1000;
const LOOPBACK = [
  { type: 7, ip: '127.0.0.1' },
  { type: 2, value: 'localhost' },
];

/** Issues a certificate for two days, or one that ended yesterday; without an issuer it is signed by itself. */
function issue(name: string, extensions: object[], issuer?: Issued, end: number = Date.now() + DAY): Issued {
  const keys = forge.pki.rsa.generateKeyPair(2048);
  const cert = forge.pki.createCertificate();
  const subject = [{ name: 'commonName', value: name }];
  cert.publicKey = keys.publicKey;
  // A first byte other than 0: OpenSSL refuses a number that is padded.
  cert.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`;
  cert.validity.notBefore = new Date(end - 2 * DAY);
  cert.validity.notAfter = new Date(end);
  cert.setSubject(subject);
  cert.setIssuer(issuer?.cert.subject.attributes ?? subject);
  cert.setExtensions(extensions);
  cert.sign((issuer ?? { keys }).keys.privateKey, forge.md.sha256.create());
  return { keys, cert };
}

const toPem = ({ keys, cert }: Issued): Certificate => ({
  key: forge.pki.privateKeyToPem(keys.privateKey),
  cert: forge.pki.certificateToPem(cert),
});

/** Made anew each time, so that no key lies in the repository. */
export function createCertificates(): Certificates {
  const ca = issue('Relay test CA', [{ name: 'basicConstraints', cA: true, critical: true }]);
  const server = (altNames: object[], end?: number) =>
    toPem(issue('localhost', [{ name: 'subjectAltName', altNames }], ca, end));
  const trusted = server(LOOPBACK);
  return {
    ca: toPem(ca).cert,
    trusted,
    chain: { ...trusted, cert: trusted.cert + toPem(ca).cert },
    notYetValid: server(LOOPBACK, Date.now() + 3 * DAY),
    expired: server(LOOPBACK, Date.now() - DAY),
    wrongName: server([{ type: 2, value: 'elsewhere.example' }]),
    selfSigned: toPem(issue('localhost', [{ name: 'subjectAltName', altNames: LOOPBACK }])),
  };
}
