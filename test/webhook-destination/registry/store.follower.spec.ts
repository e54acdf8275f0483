import { NEVER, Subject } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { RegistryRecord, RegistryStore } from '../../../lib/webhook-destination/queue/registry-store.interface.js';
import { MemoryRegistryStore } from '../../../lib/stores/memory/memory-registry.store.js';
import { StoreFollower } from '../../../lib/webhook-destination/registry/store.follower.js';

describe('StoreFollower', () => {
  afterEach(() => void vi.useRealTimers());

  function follow(store: RegistryStore) {
    const applied: RegistryRecord[] = [];
    const follower = new StoreFollower(store, ['source'], 'The registry', (records) => {
      applied.push(...records);
      return Promise.resolve();
    });
    return { follower, names: () => applied.map(({ name }) => name) };
  }

  it('has started once it hears of changes, so none is late', async () => {
    const changed$ = new Subject<void>();
    const store = Object.assign(new MemoryRegistryStore(), { changed$ });
    const { follower, names } = follow(store);
    const started = follower.start();
    await store.write({ kind: 'source', name: 'shop', document: '{}' }, 0);
    changed$.next();
    await started;
    expect(new Set(names())).toEqual(new Set(['shop']));
    follower.stop();
  });

  it('applies records of its own kinds alone, and follows the others', async () => {
    const changed$ = new Subject<void>();
    const store = Object.assign(new MemoryRegistryStore(), { changed$ });
    const read = vi.spyOn(store, 'read');
    await store.write({ kind: 'source', name: 'shop', document: '{}' }, 0);
    const last = await store.write({ kind: 'session', name: 'other', document: '{}' }, 0);
    const { follower, names } = follow(store);
    const started = follower.start();
    changed$.next();
    await started;
    await follower.catchUp();
    expect(names()).toEqual(['shop']);
    expect(read).toHaveBeenLastCalledWith(last! - 1); // from the last record of any kind
    follower.stop();
  });

  it('starts without that after a second', async () => {
    vi.useFakeTimers();
    const store = Object.assign(new MemoryRegistryStore(), { changed$: NEVER });
    await store.write({ kind: 'source', name: 'shop', document: '{}' }, 0);
    const { follower, names } = follow(store);
    let hasStarted = false;
    const started = follower.start().then(() => (hasStarted = true));
    await vi.advanceTimersByTimeAsync(999);
    expect(hasStarted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await started;
    expect(names()).toEqual(['shop']);
    follower.stop();
  });
});
