import { createServer, type Server } from 'node:http';

/** Stands in for the customers' servers. The path `/acme` exists, others answer 404, as a mistyped one would. */
export const createReceiver = (): Server =>
  createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { event } = JSON.parse(body) as { event: string };
      const signatures = String(request.headers['webhook-signature']).split(' ').length;
      const isKnown = request.url === '/acme';
      console.log(`[receiver] ${request.url}: ${event}, signatures: ${signatures}, answer: ${isKnown ? 204 : 404}`);
      if (isKnown) response.writeHead(204).end();
      else response.writeHead(404, { 'Content-Type': 'text/plain' }).end('No such page');
    });
  });
