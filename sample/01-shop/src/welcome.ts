import { relative } from 'node:path';

import { DATABASE_PATH } from './shop/shop.module.js';

/** Tells a newcomer what is running and what to try. */
export function printWelcome(): void {
  console.log(`
The shop runs on http://localhost:3000 and forwards its events to a receiver, http://localhost:3001/webhooks.
Events wait in ${relative(process.cwd(), DATABASE_PATH)} until the receiver has taken them.

Place an order; the receiver prints its event within a second:
  curl localhost:3000/orders -H 'Content-Type: application/json' -d '{"userId":"u1","product":"Tea","price":4.5}'

Send an event as any Segment-compatible SDK does:
  curl localhost:3000/v1/track -u wk_shop: -d '{"userId":"u1","event":"Coupon Used"}'

Switch the receiver off, send events, kill -9 ${process.pid}, npm start: they arrive after all.
  curl -X POST localhost:3001/outage

Ctrl-C delivers what is queued and ends.
`);
}
