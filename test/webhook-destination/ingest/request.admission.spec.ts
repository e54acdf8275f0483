import type { IncomingMessage } from 'node:http';

import { describe, expect, it } from 'vitest';

import { RequestAdmission } from '../../../lib/webhook-destination/ingest/request.admission.js';
import { SourceRegistry } from '../../../lib/webhook-destination/ingest/source.registry.js';

describe('RequestAdmission', () => {
  function admitAfterGuesses(socket: { remoteAddress?: string } | undefined): string {
    const admission = new RequestAdmission(new SourceRegistry([{ name: 'shop', writeKey: 'wk_shop' }]), {});
    const request = { socket } as IncomingMessage;
    for (let i = 0; i < 61; i++) expect(() => admission.authenticate(`wk_guess${i}`, request)).toThrow();
    return admission.authenticate('wk_shop', request);
  }

  it.each(['8.8.8.8', '::ffff:8.8.8.8', '2600::1'])('refuses a right key from %s after wrong ones', (remoteAddress) => {
    expect(() => admitAfterGuesses({ remoteAddress })).toThrow('too many wrong write keys');
  });

  it.each([
    { remoteAddress: '127.0.0.1' },
    { remoteAddress: '::1' },
    { remoteAddress: '::ffff:10.0.0.1' },
    { remoteAddress: '172.18.0.5' },
    { remoteAddress: 'fe80::1%eth0' },
    {}, // a socket in the file system
    undefined, // a serverless runtime
  ])('takes a right key after wrong ones where a proxy is likely: %j', (socket) => {
    expect(admitAfterGuesses(socket)).toBe('shop');
  });
});
