import dns from 'node:dns';
import { writeFile } from 'node:fs/promises';

import { beforeEach, describe, expect, it } from 'vitest';

import { HostLookup } from '../../../lib/webhook-destination/transport/host-lookup.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { DnsServer } from '../../support/dns-server.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const SERVFAIL = 2;

describe('The look-up of a name', () => {
  const cleanUp = useCleanUps();
  let server: DnsServer;
  let file: (name: string) => string;
  beforeEach(async () => {
    server = await DnsServer.start();
    cleanUp(() => server.stop());
    const folder = await temporaryFolder(cleanUp);
    file = folder.path;
  });

  const create = (): HostLookup => new HostLookup(file('hosts'), file('resolv.conf'));

  it('takes what the hosts file says, and asks DNS for all else', async () => {
    server.answers['crm.example'] = '10.0.0.1';
    const lookup = create();
    expect(await lookup.addressesOf('crm.example')).toEqual([{ address: '10.0.0.1', family: 4 }]);
    await writeFile(file('hosts'), '# ours\n10.9.9.9\tcrm CRM.example # moved\n::7 crm.example\nbad crm.example\n');
    expect(await lookup.addressesOf('crm.example')).toEqual([
      { address: '10.9.9.9', family: 4 },
      { address: '::7', family: 6 },
    ]);
    await writeFile(file('hosts'), '');
    expect(await lookup.addressesOf('crm.example')).toEqual([{ address: '10.0.0.1', family: 4 }]);
  });

  it('goes through the search domains as ndots says', async () => {
    await writeFile(file('resolv.conf'), 'search shop.cluster.local cluster.local\noptions ndots:2 edns0\n');
    Object.assign(server.answers, { 'crm.billing.cluster.local': '10.0.0.2', 'crm.billing': '1.1.1.1' });
    expect(await create().addressesOf('crm.billing')).toEqual([{ address: '10.0.0.2', family: 4 }]);
    expect([...new Set(server.asked)]).toEqual(['crm.billing.shop.cluster.local', 'crm.billing.cluster.local']);
    server.asked.length = 0;
    server.answers['a.b.example'] = '1.1.1.2';
    expect(await create().addressesOf('a.b.example')).toEqual([{ address: '1.1.1.2', family: 4 }]);
    expect([...new Set(server.asked)]).toEqual(['a.b.example']);
  });

  it('names no search domain in its errors', async () => {
    await writeFile(file('resolv.conf'), 'search payments.svc.cluster.local\noptions ndots:2\n');
    server.answers['crm.example.payments.svc.cluster.local'] = SERVFAIL;
    server.answers['crm.example'] = SERVFAIL;
    const error = await create().addressesOf('crm.example').catch(String);
    expect(error).toMatch(/crm\.example$/);
  });

  it('leaves a name that DNS does not know to the system, and a failing one not', async () => {
    server.answers['broken.example'] = SERVFAIL;
    await expect(create().addressesOf('broken.example')).rejects.toMatchObject({ code: 'ESERVFAIL' });
    await expect(create().addressesOf('receiver.invalid')).rejects.toMatchObject({ syscall: 'getaddrinfo' });
  });

  it.each(['localhost', 'LOCALHOST', 'localhost.', 'crm.localhost'])('asks nobody for %s', async (name) => {
    server.answers[name.toLowerCase()] = '10.0.0.1';
    expect(await create().addressesOf(name)).toEqual([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(server.asked).toEqual([]);
    await writeFile(file('hosts'), `10.9.9.9 ${name}\n`);
    expect(await create().addressesOf(name)).toEqual([{ address: '10.9.9.9', family: 4 }]);
  });

  it.each([
    { ipv4: '10.0.0.1', ipv6: 'silence', found: { address: '10.0.0.1', family: 4 } },
    { ipv4: 'silence', ipv6: 'fd00:0:0:0:0:0:0:7', found: { address: 'fd00::7', family: 6 } },
  ])('does not wait for the rest where the server is silent about it: $found', async ({ ipv4, ipv6, found }) => {
    server.answers['crm.example'] = { ipv4, ipv6 };
    const start = performance.now();
    expect(await create().addressesOf('crm.example')).toEqual([found]);
    // Its three tries take seven seconds.
    expect(performance.now() - start).toBeLessThan(4_000);
  });

  it('takes the addresses of both families', async () => {
    server.answers['crm.example'] = { ipv4: '10.0.0.1', ipv6: 'fd00:0:0:0:0:0:0:7' };
    const addresses = (await create().addressesOf('crm.example')).map(({ address }) => address);
    expect(addresses.sort()).toEqual(['10.0.0.1', 'fd00::7']);
  });

  it('is made once for those who ask meanwhile, and anew for those who ask later', async () => {
    server.answers['crm.example'] = '10.0.0.1';
    const lookup = create();
    await Promise.all([lookup.addressesOf('crm.example'), lookup.addressesOf('crm.example')]);
    expect(server.asked).toHaveLength(2); // A and AAAA
    await lookup.addressesOf('crm.example');
    expect(server.asked).toHaveLength(4);
  });

  it('asks the servers that the application has set since', async () => {
    server.answers['crm.example'] = '10.0.0.1';
    const lookup = create();
    await lookup.addressesOf('crm.example');
    const later = await DnsServer.start();
    cleanUp(() => later.stop());
    later.answers['crm.example'] = '10.0.0.2';
    expect(await lookup.addressesOf('crm.example')).toEqual([{ address: '10.0.0.2', family: 4 }]);
  });

  it('waits for no silent DNS server of other names', async () => {
    const receiver = await ScriptedReceiver.start(status(200));
    cleanUp(() => receiver.stop());
    const silent = Array.from({ length: 8 }, (_, index) => `silent-${index}.example`);
    for (const name of silent) server.answers[name] = 'silence';
    server.answers['healthy.example'] = '127.0.0.1';
    const relay = await Relay.start({
      destinations: [
        ...silent.map((name) => ({ name, urls: [`http://${name}/hook`] })),
        { name: 'Healthy', urls: [`http://healthy.example:${receiver.port}/hook`] },
      ],
    });
    cleanUp(() => relay.stop());
    await relay.track('m1');
    await relay.settled('delivered');
    await waitFor(() => silent.every((name) => server.asked.includes(name)));
    await relay.track('m2');
    await relay.settled('delivered', 2);
    // No attempt at the silent ones has ended: their look-ups were pending all the time.
    expect(relay.events.map(({ type, destination }) => [type, destination])).toEqual([
      ['delivered', 'Healthy'],
      ['delivered', 'Healthy'],
    ]);
    // Neither are the threads taken that the rest of the application looks names up with.
    expect(await dns.promises.lookup('localhost')).toBeDefined();
    expect(relay.events).toHaveLength(2);
  });
});
