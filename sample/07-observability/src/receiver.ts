import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands for somebody else's server: refuses the first webhook, and takes the second. */
export async function startReceiver(): Promise<{ url: string; taken: Promise<void>; server: Server }> {
  let isTaken: () => void;
  const taken = new Promise<void>((resolve) => (isTaken = resolve));
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const status = ++count === 1 ? 503 : 200;
      response.writeHead(status).end();
      const traced = 'traceparent' in request.headers ? 'with a traceparent' : 'without a traceparent';
      console.log(`[receiver] webhook ${count}, ${traced}: answered ${status}`);
      if (status === 200) isTaken();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, taken, server };
}
