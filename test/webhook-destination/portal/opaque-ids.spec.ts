import { describe, expect, it } from 'vitest';

import { OpaqueIds } from '../../../lib/webhook-destination/portal/opaque-ids.js';
import { PortalKeys } from '../../../lib/webhook-destination/portal/portal.keys.js';
import { portalIds } from './support.js';

describe('Ids that a tenant sees', () => {
  const ids = portalIds();

  it('are the same each time, and differ by delivery, tenant and secret', () => {
    const other = new OpaqueIds(new PortalKeys('another-portal-secret-of-32-bytes-or-more'));
    const all = [
      ids.conceal('acme', '1'),
      ids.conceal('acme', '2'),
      ids.conceal('globex', '1'),
      other.conceal('acme', '1'),
      ids.endpoint('1'),
      ids.endpoint('2'),
      other.endpoint('1'),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(ids.conceal('acme', '1')).toBe(portalIds().conceal('acme', '1'));
    expect(ids.endpoint('1')).toBe(portalIds().endpoint('1'));
    expect(ids.conceal('acme', '1')).toHaveLength(ids.conceal('acme', '4711000').length);
  });

  it('are read for their tenant alone, and not if a bit of them differs', () => {
    const concealed = ids.conceal('acme', 'shop:4711:crm');
    expect(ids.reveal('acme', concealed)).toBe('shop:4711:crm');
    expect(ids.reveal('globex', concealed)).toBeUndefined();
    const bytes = Buffer.from(concealed.slice(3), 'base64url');
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      expect(ids.reveal('acme', `dl_${changed.toString('base64url')}`)).toBeUndefined();
    }
    for (const text of ['', 'dl_', 'dl_x', '4711', concealed.slice(3)])
      expect(ids.reveal('acme', text)).toBeUndefined();
  });
});
