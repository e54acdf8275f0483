import type { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

/** As much of Fastify as is used here; the application may not have it installed. */
export interface FastifyHooks {
  addHook(
    name: 'onRequest',
    hook: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): void }, next: () => void) => void,
  ): void;
}

/** As much of Express as is used here. */
export interface ExpressMiddlewares {
  use(middleware: (request: IncomingMessage, response: ServerResponse, next: () => void) => void): void;
}

/** What to do on each platform; nothing is done in an application without HTTP. */
export interface HttpMounts {
  express(adapter: ExpressMiddlewares): void;
  fastify(instance: FastifyHooks): void;
  other(platform: string): void;
}

/** Sets up the application's HTTP platform, before the application's own middleware, parsers and routes. */
export function mountOnHttp(adapterHost: HttpAdapterHost, mounts: HttpMounts): void {
  // Under Nest's testing module the adapter comes only after the providers.
  if (adapterHost.httpAdapter) mount(adapterHost, mounts);
  else adapterHost.init$.subscribe(() => mount(adapterHost, mounts));
}

function mount({ httpAdapter }: HttpAdapterHost, mounts: HttpMounts): void {
  const platform = httpAdapter?.getType();
  if (platform === 'express') mounts.express(httpAdapter);
  else if (platform === 'fastify') mounts.fastify(httpAdapter.getInstance<FastifyHooks>());
  else if (platform !== undefined) mounts.other(platform);
}
