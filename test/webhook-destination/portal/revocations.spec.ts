import { BehaviorSubject } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { MemoryRegistryStore } from '../../../lib/stores/memory/memory-registry.store.js';
import { MAX_LINK_TIME, Revocations } from '../../../lib/webhook-destination/portal/revocations.js';
import type { RegistryStore } from '../../../lib/webhook-destination/queue/registry-store.interface.js';
import { useCleanUps } from '../../support/clean-ups.js';

describe('Revocations of links', () => {
  const afterwards = useCleanUps();

  const open = async (registry: RegistryStore, now = () => Date.now()) => {
    const revocations = new Revocations({ now, registry });
    await revocations.open();
    afterwards(() => revocations.close());
    return revocations;
  };

  it('end the tokens made before, whatever the clocks of processes say', async () => {
    const store = new MemoryRegistryStore();
    const [one, late] = [await open(store), await open(store, () => 0)];
    const before = await one.generationOf('acme');
    await late.revoke('acme');
    await one.revoke('globex');
    const restarted = await open(store);
    expect(await restarted.isRevoked('acme', before)).toBe(true);
    expect(await restarted.isRevoked('acme', await restarted.generationOf('acme'))).toBe(false);
    expect(await restarted.isRevoked('other', 0)).toBe(false);
  });

  it('do not show tenants in the store, and are forgotten once no link can be as old', async () => {
    const store = new MemoryRegistryStore();
    let time = 1_000;
    const revocations = await open(store, () => time);
    await revocations.revoke('acme');
    const [record] = await store.read(0);
    expect(record).toMatchObject({ kind: 'session', name: expect.stringMatching(/^portal [\da-f]{64}$/) });
    expect(JSON.stringify(record)).not.toContain('acme');
    const later = await revocations.generationOf('acme');
    time += MAX_LINK_TIME + 1;
    await revocations.revoke('globex');
    const kept = (await store.read(0)).filter(({ document }) => document !== undefined);
    expect(kept).toHaveLength(1);
    expect(await revocations.isRevoked('acme', later)).toBe(false); // a link made after the revocation may be valid
    await revocations.revoke('acme');
    expect(await revocations.isRevoked('acme', later)).toBe(true);
  });

  it('stay in force if the store has lost them, and can be repeated', async () => {
    let store: RegistryStore = new MemoryRegistryStore();
    const registry: RegistryStore = {
      read: (after) => store.read(after),
      write: (record, expected) => store.write(record, expected),
      changed$: new BehaviorSubject(undefined),
    };
    const revocations = await open(registry);
    await revocations.revoke('acme');
    store = new MemoryRegistryStore();
    await store.write({ kind: 'source', name: 'shop', document: '{}' }, 0);
    expect(await revocations.generationOf('acme')).toBeGreaterThan(0);
    expect(await revocations.isRevoked('acme', 0)).toBe(true);
    await revocations.revoke('acme');
    expect((await store.read(0)).filter(({ kind }) => kind === 'session')).toHaveLength(1);
  });
});
