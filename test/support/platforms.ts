import type { INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

const express = { platform: 'Express', createAdapter: () => new ExpressAdapter() };
const fastify = { platform: 'Fastify', createAdapter: () => new FastifyAdapter() };

/** The HTTP platforms that Nest runs on, for `describe.each`. */
export const platforms = [express, fastify];

/** For what does not depend on the platform. */
export const onExpress = [express];
export const onFastify = [fastify];

/** Listens on a free port of loopback; answers the base URL. */
export async function listen(app: INestApplication): Promise<string> {
  await app.listen(0, '127.0.0.1');
  return (await app.getUrl()).replace('[::1]', '127.0.0.1');
}
