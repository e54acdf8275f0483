import { describe, expect, it } from 'vitest';

import { ADDRESS_NOT_ALLOWED } from '../../../lib/common/relay.errors.js';
import { showAttempt, toWord } from '../../../lib/webhook-destination/portal/attempt.view.js';

describe('An attempt in the portal', () => {
  it.each([
    ['connect ECONNREFUSED 203.0.113.7:443', 'unreachable'],
    ['read ECONNRESET', 'unreachable'],
    ['getaddrinfo ENOTFOUND certificate.timeout.example', 'unreachable'],
    ['getaddrinfo EAI_AGAIN receiver.example', 'unreachable'],
    ['connect EHOSTUNREACH ***', 'unreachable'],
    ['the receiver closed the connection before the request', 'unreachable'],
    ['the proxy http://proxy.internal:3128 cannot connect', 'unreachable'],
    ['timeout: no complete answer within 5000 ms', 'timeout'],
    ['connect ETIMEDOUT ***', 'timeout'],
    ['certificate has expired', 'certificate'],
    ['self-signed certificate', 'certificate'],
    ['unable to verify the first certificate', 'certificate'],
    ["Hostname/IP does not match certificate's altnames: Host: x. is not in the cert's altnames", 'certificate'],
    [`${ADDRESS_NOT_ALLOWED}: it resolves to ***`, 'unreachable'],
    ['anything else, such as what a transport of the application threw', 'unreachable'],
  ])('says of %j: %s', (error, word) => {
    expect(toWord(error)).toBe(word);
  });

  it('does not tell a refused address from a name without one', () => {
    const show = (outcome: 'temporary' | 'permanent', error: string) =>
      showAttempt({ startedAt: 1, results: [{ url: 'https://a.example/', outcome, error, duration: 5 }] });
    const refused = show('permanent', `${ADDRESS_NOT_ALLOWED}: it resolves to ***`);
    expect(refused).toEqual(show('temporary', 'getaddrinfo ENOTFOUND a.example'));
  });

  it('is that of the URL which succeeded, or else of the first', () => {
    const failed = { url: 'https://a.example/', outcome: 'temporary', error: 'read ECONNRESET', duration: 5 } as const;
    const succeeded = { url: 'https://b.example/', outcome: 'success', status: 204, duration: 7 } as const;
    expect(showAttempt({ startedAt: 1, results: [failed, succeeded] })).toMatchObject({
      outcome: 'success',
      status: 204,
    });
    expect(showAttempt({ startedAt: 1, results: [failed] })).toEqual({
      at: 1,
      outcome: 'temporary',
      status: undefined,
      error: 'unreachable',
      duration: 5,
      answer: undefined,
    });
    expect(showAttempt({ startedAt: 1, results: [] })).toMatchObject({ at: 1, outcome: 'success' });
  });
});
