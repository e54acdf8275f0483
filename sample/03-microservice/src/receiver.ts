import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands for somebody else's server: prints the webhooks that come, and tells when so many have come. */
export async function startReceiver(expected: number): Promise<{ url: string; all: Promise<void>; server: Server }> {
  let isLast: () => void;
  const all = new Promise<void>((resolve) => (isLast = resolve));
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      const { event, userId, properties } = JSON.parse(body) as Record<string, unknown>;
      console.log(`[receiver] ${event as string} of ${userId as string}: ${JSON.stringify(properties)}`);
      if (--expected === 0) isLast();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, all, server };
}
