// Delivers messages to many destinations, and prints how many sockets it had open at most and what it delivered.
import { readdirSync, readlinkSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { memoryQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

const { destinations, messages, delivery } = JSON.parse(process.argv[2]);

class AppModule {}
Module({
  imports: [
    WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations,
      queue: memoryQueue(),
      delivery,
    }),
  ],
})(AppModule);

function countSockets() {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

const logged = [];
const logger = { log: () => {}, warn: (line) => logged.push(line), error: (line) => logged.push(line) };
const app = await NestFactory.createApplicationContext(AppModule, { logger });
const relay = app.get(WebhookDestinationService);
const expected = destinations.length * messages;
const before = countSockets();
const faults = new Set();
let mostSockets = 0;
let delivered = 0;
let after = 0;
// A delivery that waits for its next attempt keeps no process running.
const running = setInterval(() => {}, 1_000);
await new Promise((resolve) => {
  relay.events$.subscribe(({ type, results }) => {
    if (type === 'delivered') delivered++;
    else for (const { error, status } of results) faults.add(String(error ?? status));
    if (++after % 25 === 0) mostSockets = Math.max(mostSockets, countSockets() - before);
    if (delivered === expected) resolve();
  });
  void relay.accept(
    'wk_shop',
    Array.from({ length: messages }, (_, index) => ({
      type: 'track',
      userId: 'u1',
      event: 'Ordered',
      messageId: `m${index}`,
    })),
  );
});
clearInterval(running);
await app.close();
console.log(JSON.stringify({ mostSockets, delivered, faults: [...faults], logged, left: countSockets() - before }));
