import type { HttpAdapterHost } from '@nestjs/core';

import { mountOnHttp } from '../../common/http-adapter.util.js';
import { scopes } from './context.scope.js';

/**
 * Opens a scope for each HTTP request, before the application's own middleware, guards and parsers.
 * Several instances share it: the first opens it.
 */
export function openScopePerRequest(adapterHost: HttpAdapterHost): void {
  mountOnHttp(adapterHost, {
    express: (adapter) => adapter.use((request, _response, next) => open(request, request.socket, next)),
    fastify: (instance) =>
      instance.addHook('onRequest', (request, _reply, next) => open(request, request.raw.socket, next)),
    other: () => undefined,
  });
}

function open(request: object, socket: { remoteAddress?: string | undefined }, next: () => void): void {
  if (scopes.getStore()?.request === request) return next();
  // Read once, the address stays known when the client is gone before its event is recorded.
  void socket.remoteAddress;
  scopes.run({ request }, next);
}
