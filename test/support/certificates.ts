import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server's key and certificate, PEM. */
export interface Certificate {
  key: string;
  cert: string;
}

/** A private certificate authority, and servers on loopback: one it vouches for, and others nobody does. */
export interface Certificates {
  ca: string;
  trusted: Certificate;
  expired: Certificate;
  wrongName: Certificate;
  selfSigned: Certificate;
}

/** Made anew with `openssl`, so that no key lies in the repository. */
export function createCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'relay-tls-'));
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const read = (name: string) => readFileSync(file(name), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const loopback = 'subjectAltName=IP:127.0.0.1,DNS:localhost';
  const signed = (name: string, extension: string, days: string): Certificate => {
    openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    writeFileSync(file('extension'), extension);
    const ca = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'extension'];
    openssl('x509', '-req', '-in', `${name}.csr`, ...ca, '-days', days, '-out', `${name}.crt`);
    return { key: read(`${name}.key`), cert: read(`${name}.crt`) };
  };
  try {
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      'ca.key',
      '-out',
      'ca.crt',
      '-subj',
      '/CN=Relay test CA',
      '-days',
      '2',
    );
    const own = ['-subj', '/CN=localhost', '-days', '2', '-addext', loopback];
    openssl('req', '-x509', ...newKey, '-keyout', 'own.key', '-out', 'own.crt', ...own);
    return {
      ca: read('ca.crt'),
      trusted: signed('trusted', loopback, '2'),
      expired: signed('expired', loopback, '-1'),
      wrongName: signed('wrong', 'subjectAltName=DNS:other.example', '2'),
      selfSigned: { key: read('own.key'), cert: read('own.crt') },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
