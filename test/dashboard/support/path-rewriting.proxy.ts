import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Afterwards } from '../../support/clean-ups.js';

/** A proxy that takes a prefix off the path; answers its URL, with the prefix. */
export async function startProxy(afterwards: Afterwards, target: string, prefix: string): Promise<string> {
  const server = createServer((incoming, answer) => {
    if (!incoming.url!.startsWith(`${prefix}/`)) return void answer.writeHead(404).end();
    const { method, headers } = incoming;
    const outgoing = request(`${target}${incoming.url!.slice(prefix.length)}`, { method, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      response.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  afterwards(() => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
}
