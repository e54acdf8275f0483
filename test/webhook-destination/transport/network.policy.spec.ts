import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { NetworkPolicy } from '../../../lib/webhook-destination/transport/network.policy.js';
import { concealAddresses, isCidr } from '../../../lib/webhook-destination/network.util.js';

const closed = new NetworkPolicy([], []);

describe('The network policy', () => {
  it.each([
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['168.63.129.16', '::ffff:168.63.129.16'],
    ['169.254.0.0', '169.254.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['224.0.0.0', '255.255.255.255'],
    ['::', '::ffff:ffff'],
    ['::ffff:10.0.0.0', '::ffff:10.255.255.255'],
    ['::ffff:0:10.0.0.1', '::ffff:0:8.8.8.8'],
    ['64:ff9b::', '64:ff9b::ffff:ffff'],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    ['100::', '100::ffff:ffff:ffff:ffff'],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('refuses %s to %s', (first, last) => {
    expect([closed.allows(first), closed.allows(last)]).toEqual([false, false]);
  });

  it.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '172.32.0.0',
    '223.255.255.255',
    '::ffff:8.8.8.8',
  ])('allows %s', (address) => expect(closed.allows(address)).toBe(true));

  it.each(['2606:4700::1111', '2001:4860::8888', '2003::1', '2a00::1'])('allows %s', (address) =>
    expect(closed.allows(address)).toBe(true),
  );

  it('exempts the allowed networks, mapped into IPv6 too, and no more', () => {
    const policy = new NetworkPolicy(['10.1.0.0/16', 'fd00:1::/32'], []);
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00:1::9']) expect(policy.allows(address)).toBe(true);
    for (const address of ['10.2.0.1', '::ffff:10.2.0.1', 'fd00:2::9', '127.0.0.1']) {
      expect(policy.allows(address)).toBe(false);
    }
  });

  it('refuses the denied networks, mapped into IPv6 too, whatever is allowed', () => {
    const policy = new NetworkPolicy(['0.0.0.0/0', '::/0'], ['10.1.0.0/16', '2003::/16', 'localhost']);
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '2003::1', '127.9.9.9', '::1']) {
      expect(policy.allows(address)).toBe(false);
      expect(policy.refusal(address).message).toMatch(/ is in delivery\.deniedNetworks$/);
    }
    for (const address of ['10.2.0.1', '8.8.8.8', '2004::1']) expect(policy.allows(address)).toBe(true);
  });

  it('takes an address for itself, and localhost for all loopback addresses', () => {
    const policy = new NetworkPolicy(['10.1.2.3', 'fd00::9'], []);
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::9']) expect(policy.allows(address)).toBe(true);
    for (const address of ['10.1.2.4', 'fd00::8', '127.0.0.1']) expect(policy.allows(address)).toBe(false);
    const local = new NetworkPolicy(['localhost'], []);
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect(local.allows(address)).toBe(true);
    }
    for (const address of ['10.0.0.1', '::2']) expect(local.allows(address)).toBe(false);
  });

  it('answers a look-up with allowed addresses only', async () => {
    const lookup = (policy: NetworkPolicy, all: boolean) =>
      promisify(policy.lookup as (name: string, options: object, done: (e: Error | null, a: unknown) => void) => void)(
        'localhost',
        { all },
      );
    const policy = new NetworkPolicy(['127.0.0.0/8'], []);
    expect(await lookup(policy, false)).toBe('127.0.0.1');
    expect(await lookup(policy, true)).toEqual([{ address: '127.0.0.1', family: 4 }]);
    await expect(lookup(closed, true)).rejects.toMatchObject({ code: 'address_not_allowed' });
  });

  it('is applied to each look-up: a name that points elsewhere by now is refused (DNS rebinding)', async () => {
    let address = '1.1.1.1';
    const policy = new NetworkPolicy([], [], { addressesOf: () => Promise.resolve([{ address, family: 4 }]) });
    const lookup = (): Promise<unknown> =>
      new Promise((resolve) => policy.lookup('a.example', {}, (error, found) => resolve(error ?? found)));
    expect(await lookup()).toBe('1.1.1.1');
    address = '169.254.169.254';
    expect(await lookup()).toMatchObject({ code: 'address_not_allowed' });
  });

  it.each(['10.0.0.0/8', '0.0.0.0/0', '::/0', 'fd00::/8', '127.0.0.1/32'])('takes %s for a network', (cidr) => {
    expect(isCidr(cidr)).toBe(true);
  });

  it.each(['10.0.0.0', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0/8', '/8', '', 'a/8', 8, null])(
    'does not take %j for one',
    (cidr) => expect(isCidr(cidr)).toBe(false),
  );
});

it.each([
  ['connect ECONNREFUSED 10.0.0.1:80', 'connect ECONNREFUSED ***:80'],
  ['connect ECONNREFUSED ::1:80', 'connect ECONNREFUSED ***'],
  ['connect EHOSTUNREACH fd00:1:2:3:4:5:6:7:80 - Local (fd00::1:0)', 'connect EHOSTUNREACH *** - Local (***)'],
  ['http://[fe80::1]:8080, ::ffff:192.168.0.1', 'http://[***]:8080, ***'],
  [
    "Host: receiver.example. is not in the cert's altnames: DNS:db.corp.internal, IP Address:10.0.0.4",
    "Host: receiver.example. is not in the cert's altnames",
  ],
  ["IP: 1.1.1.1 is not in the cert's list: 10.0.0.4", "IP: 1.1.1.1 is not in the cert's list"],
  ["Host: receiver.example. is not cert's CN: db.corp.internal", "Host: receiver.example. is not cert's CN"],
  ['connect ECONNREFUSED ::ffff:a00:5:443', 'connect ECONNREFUSED ***'],
  ['connect ECONNREFUSED 64:ff9b::a00:5:443', 'connect ECONNREFUSED ***'],
  ['connect ECONNREFUSED 2001:4860:4860::8888:443', 'connect ECONNREFUSED 2001:4860:4860::8888:443'],
  ["allowedNetworks: ['0.0.0.0/0', '::/0', '10.0.0.0/8']", "allowedNetworks: ['0.0.0.0/0', '::/0', '***/8']"],
  ['connect ETIMEDOUT 1.1.1.1:443 at 12:00:05', 'connect ETIMEDOUT 1.1.1.1:443 at 12:00:05'],
])('Of the addresses in "%s", those that are not public are concealed', (text, concealed) => {
  expect(concealAddresses(text)).toBe(concealed);
});
