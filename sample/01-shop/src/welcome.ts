import { relative } from 'node:path';

import type { ConfigService } from '@nestjs/config';

import { adminToken, databasePath, webhookUrl } from './settings.js';

/** Tells a newcomer what is running and what to try. */
export function printWelcome(config: ConfigService): void {
  const shop = `localhost:${config.getOrThrow<string>('PORT')}`;
  const receiver = new URL(webhookUrl(config)).host;
  console.log(`
The shop runs on http://${shop} and forwards its events to a receiver, ${webhookUrl(config)}.
Events are kept in ${relative(process.cwd(), databasePath(config))} until the receiver accepts them.

See each event on its way. Sign in to the dashboard with the token of this run, ${adminToken(config)}:
  http://${shop}/relay

Place an order. The receiver prints its event:
  curl ${shop}/orders -H 'Content-Type: application/json' -d '{"userId":"u1","product":"Tea","price":4.5}'

Send an event the way Segment-compatible SDKs do:
  curl ${shop}/v1/track -u ${config.getOrThrow<string>('WRITE_KEY')}: -d '{"userId":"u1","event":"Coupon Used"}'

Switch the receiver off, send events, kill -9 ${process.pid}, then npm start: the events arrive.
  curl -X POST ${receiver}/outage

Ctrl-C delivers queued events and stops.
`);
}
