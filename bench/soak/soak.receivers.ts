import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { verifySignature } from 'nestjs-analytics-relay';

import type { SoakLedger } from './soak.ledger.js';
import { DESTINATIONS, secretOf, type SoakDestination } from './soak.plan.js';

/** Time the slow receiver takes to answer, in ms. */
const SLOWEST = 800;
const FASTEST = 200;

/** The receivers of all destinations. */
export interface Receivers {
  urls: Record<SoakDestination, string>;
  close(): void;
}

/**
 * A receiver for each destination: healthy, slow (200 to 800 ms), flapping (`flap` ms up, and as long answering 503) and
 * dead (always 500). What is answered 200 is in the ledger.
 */
export async function startReceivers(ledger: SoakLedger, flap: number): Promise<Receivers> {
  const start = performance.now();
  const take = (destination: SoakDestination, request: IncomingMessage, response: ServerResponse) => {
    ledger.take(destination, String(request.headers['x-message-id']));
    response.writeHead(200).end();
  };
  const answers: Record<SoakDestination, (request: IncomingMessage, response: ServerResponse) => void> = {
    healthy: (request, response) => take('healthy', request, response),
    slow: (request, response) => {
      const delay = FASTEST + Math.random() * (SLOWEST - FASTEST);
      // A relay that was killed meanwhile has no answer.
      setTimeout(() => !response.destroyed && take('slow', request, response), delay);
    },
    flapping: (request, response) => {
      const isUp = Math.floor((performance.now() - start) / flap) % 2 === 0;
      if (isUp) take('flapping', request, response);
      else response.writeHead(503).end();
    },
    dead: (_request, response) => response.writeHead(500).end(),
  };
  const servers = DESTINATIONS.map((destination) =>
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        ledger.ask(destination, String(request.headers['x-message-id']));
        const signature = request.headers['x-signature'] as string;
        if (!verifySignature(Buffer.concat(chunks), signature, secretOf(destination))) ledger.forgedCount++;
        answers[destination](request, response);
      });
    }),
  );
  await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))));
  const url = (index: number) => `http://127.0.0.1:${(servers[index]!.address() as AddressInfo).port}/hook`;
  return {
    urls: Object.fromEntries(DESTINATIONS.map((destination, index) => [destination, url(index)])) as Receivers['urls'],
    close: () => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
