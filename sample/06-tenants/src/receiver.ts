import { createServer, type Server } from 'node:http';

/** Stands in for the customers' servers, which verify the signatures. This one prints how many there are. */
export const createReceiver = (): Server =>
  createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { event } = JSON.parse(body) as { event: string };
      const signatures = String(request.headers['webhook-signature']).split(' ').length;
      console.log(`[receiver] ${request.url}: ${event}, signatures: ${signatures}`);
      response.writeHead(204).end();
    });
  });
