import { defineEvent } from 'nestjs-analytics-relay';
import * as v from 'valibot';
import { z } from 'zod';

const line = z.object({
  sku: z.string(),
  get bundled() {
    return z.array(line).optional();
  },
});

export const events = [
  defineEvent(
    'Coupon Used',
    z.object({ code: z.string().describe('As printed, a|b'), percent: z.union([z.number(), z.null()]).optional() }),
  ),
  defineEvent('Bundle Sold', line, { description: 'Several things at one price.' }),
];

export const NewsRead = defineEvent('News Read', v.object({ title: v.string() }));
export const Pinged = defineEvent('Pinged', z.object({}));
