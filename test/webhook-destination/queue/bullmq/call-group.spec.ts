import type { NewDelivery } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { CallGroup } from '../../../../lib/stores/shared/call-group.js';

const delivery = (messageId: string) => ({ messageId }) as NewDelivery;

describe('Deliveries added together', () => {
  it('are written with one exchange, as many as come while another goes on', async () => {
    const written: number[] = [];
    const group = new CallGroup<NewDelivery>((deliveries) => {
      written.push(deliveries.length);
      return Promise.resolve();
    });
    await Promise.all(Array.from({ length: 100 }, (_, index) => group.add([delivery(`m${index}`)], 10_000)));
    expect(written).toEqual([100]);
  });

  it('are not written any more once they were refused', async () => {
    const written: string[] = [];
    let answer = () => {};
    const group = new CallGroup<NewDelivery>((deliveries) => {
      written.push(...deliveries.map(({ messageId }) => messageId));
      return new Promise((resolve) => (answer = resolve));
    });
    const first = group.add([delivery('first')], 10_000);
    await Promise.resolve();
    await expect(group.add([delivery('refused')], 20)).rejects.toThrow('adding deliveries took longer');
    const last = group.add([delivery('last')], 10_000);
    answer();
    await first;
    await Promise.resolve();
    answer();
    await last;
    expect(written).toEqual(['first', 'last']);
  });
});
