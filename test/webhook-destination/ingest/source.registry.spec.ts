import { describe, expect, it } from 'vitest';

import { SourceRegistry } from '../../../lib/webhook-destination/ingest/source.registry.js';

describe('The sources', () => {
  it('are found by the keys that they have now', () => {
    const sources = new SourceRegistry([{ name: 'shop', writeKey: 'wk_1' }]);
    sources.put({ name: 'app', writeKey: 'wk_app' });
    sources.put({ name: 'shop', writeKey: 'wk_2', previousKey: 'wk_1' });
    expect(['wk_1', 'wk_2', 'wk_app'].map((key) => sources.find(key))).toEqual(['shop', 'shop', 'app']);
    sources.put({ name: 'shop', writeKey: 'wk_2' });
    expect(['wk_1', 'wk_2'].map((key) => sources.find(key))).toEqual([undefined, 'shop']);
    expect([...sources.names].sort()).toEqual(['app', 'shop']);
    sources.remove('shop');
    sources.remove('unknown');
    expect([sources.find('wk_2'), sources.names]).toEqual([undefined, ['app']]);
  });
});
