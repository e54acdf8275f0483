import { describe, expect, it } from 'vitest';

import { EventFilter } from '../../../lib/webhook-destination/routing/event-filter.js';

describe('EventFilter', () => {
  it.each<[patterns: string[], taken: string[], refused: string[]]>([
    [['Order Completed'], ['Order Completed'], ['Order', 'Order Completed 2', 'order completed', ' Order Completed']],
    [['Order *'], ['Order Completed', 'Order '], ['Order', 'Orders', 'order Completed', 'My Order Completed']],
    [['* Viewed'], ['Cart Viewed', ' Viewed'], ['Viewed', 'Cart Viewed!', 'Cart viewed']],
    [['*'], ['a', '*', '!', '\n'], []],
    [['Cart*Viewed'], ['Cart Viewed', 'CartViewed', 'Cart Viewed Viewed'], ['CartViewe', 'Cart Viewed now']],
    // A text counts once: what the start has matched, the end cannot match again.
    [['aba*aba'], ['abaaba', 'aba-aba'], ['aba', 'ababa']],
    [['*ab*ab*'], ['abab', 'xabxabx'], ['ab', 'aab', 'aba']],
    [['a*b*c'], ['abc', 'abbc', 'a b b c c'], ['acb', 'ab', 'bc', 'ac']],
    [['**a**'], ['a', 'bab'], ['b']],
    // Only the star is special.
    [
      ['a.c', '[x]', 'a+', '(y|z)', '^q$', '\\d', 'a?'],
      ['a.c', '[x]', 'a+', '(y|z)', '^q$', '\\d', 'a?'],
      ['abc', 'x', 'aa', 'y', 'q', '1', 'a'],
    ],
    [['Bestellung ü*'], ['Bestellung über'], ['Bestellung u\u0308ber', 'Bestellung Über']],
    // An exclusion takes precedence wherever it stands.
    [
      ['Order *', '!Order Viewed'],
      ['Order Completed', 'Order Viewed 2'],
      ['Order Viewed', 'Cart Viewed'],
    ],
    [['!Order Viewed', 'Order *'], ['Order Completed'], ['Order Viewed', 'Cart Viewed']],
    [['Order Viewed', '!Order *'], [], ['Order Viewed', 'Order Completed']],
    // Exclusions alone take the rest.
    [['!Order *'], ['Cart Viewed', 'Order'], ['Order Viewed']],
    [['!*'], [], ['Order Viewed', '!']],
    [['!!a'], ['a', 'b'], ['!a']],
    [
      ['a!', 'b!*'],
      ['a!', 'b!c'],
      ['a', 'bc'],
    ],
  ])('%j', (patterns, taken, refused) => {
    const filter = new EventFilter(patterns);
    expect(taken.filter((event) => !filter.takes(event))).toEqual([]);
    expect(refused.filter((event) => filter.takes(event))).toEqual([]);
  });

  it('takes linear time for a pattern and a name made to be slow', () => {
    const filter = new EventFilter(Array.from({ length: 100 }, () => `${'*a'.repeat(99)}b`));
    const begin = performance.now();
    expect(filter.takes('a'.repeat(32_000))).toBe(false);
    expect(filter.takes(`${'a'.repeat(32_000)}b`)).toBe(true);
    for (const text of [`${'a'.repeat(150)}b`, `b${'a'.repeat(150)}`]) {
      const searching = new EventFilter(Array.from({ length: 100 }, () => `*${text}*c`));
      expect(searching.takes(`${'a'.repeat(32_000)}c`)).toBe(false);
    }
    expect(performance.now() - begin).toBeLessThan(1_000);
  });
});
