import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { createCertificates } from '../../support/certificates.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('delivery.ca', () => {
  const cleanUp = useCleanUps();

  it('leaves the authorities of NODE_EXTRA_CA_CERTS trusted', async () => {
    const certificates = createCertificates();
    const receiver = await ScriptedReceiver.start(status(200), certificates.trusted);
    cleanUp(() => receiver.stop());
    const extra = (await temporaryFolder(cleanUp)).path('extra.pem');
    writeFileSync(extra, certificates.ca);
    const options = {
      destinations: [{ urls: [receiver.url] }],
      messages: 1,
      delivery: { allowedNetworks: ['localhost'], ca: certificates.selfSigned.cert, initialRetryDelay: 60_000 },
    };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['test/apps/sockets.app.mjs', JSON.stringify(options)],
      { env: { ...process.env, NODE_EXTRA_CA_CERTS: extra }, timeout: 50_000 },
    );
    expect(JSON.parse(stdout)).toMatchObject({ delivered: 1, faults: [] });
  });
});
