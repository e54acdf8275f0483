import type { INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

/** The HTTP platforms that Nest runs on, for `describe.each`. */
export const platforms = [
  { platform: 'Express', createAdapter: () => new ExpressAdapter() },
  { platform: 'Fastify', createAdapter: () => new FastifyAdapter() },
];

/** Listens on a free port of loopback; answers the base URL. */
export async function listen(app: INestApplication): Promise<string> {
  await app.listen(0, '127.0.0.1');
  return (await app.getUrl()).replace('[::1]', '127.0.0.1');
}
