import type { HttpAdapterHost } from '@nestjs/core';

import { scopes } from './context.scope.js';

/** As much of Fastify as is used here; the application may not have it installed. */
interface Fastify {
  addHook(
    name: 'onRequest',
    hook: (request: { raw: { socket: PeerSocket } }, reply: unknown, next: () => void) => void,
  ): void;
}

interface PeerSocket {
  remoteAddress?: string | undefined;
}

/**
 * Opens a scope for each HTTP request, before the application's own middleware, guards and parsers.
 * Several instances share it: the first opens it.
 */
export function openScopePerRequest(adapterHost: HttpAdapterHost): void {
  // Under Nest's testing module the adapter comes only after the providers.
  if (adapterHost.httpAdapter) mount(adapterHost);
  else adapterHost.init$.subscribe(() => mount(adapterHost));
}

function mount({ httpAdapter }: HttpAdapterHost): void {
  const platform = httpAdapter?.getType();
  if (platform === 'express') {
    httpAdapter.use((request: { socket: PeerSocket }, _response: unknown, next: () => void) =>
      open(request, request.socket, next),
    );
  } else if (platform === 'fastify') {
    httpAdapter
      .getInstance<Fastify>()
      .addHook('onRequest', (request, _reply, next) => open(request, request.raw.socket, next));
  }
}

function open(request: object, socket: PeerSocket, next: () => void): void {
  if (scopes.getStore()?.request === request) return next();
  // Read once, the address stays known when the client is gone before its event is recorded.
  void socket.remoteAddress;
  scopes.run({ request }, next);
}
