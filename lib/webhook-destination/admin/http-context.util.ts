import type { ExecutionContext, Type } from '@nestjs/common';

import { ArgumentError } from '../../common/relay.errors.js';
import { DeletionEndpoint } from './deletion.endpoint.js';

/** Creates the context of a guard that runs outside a controller: `getClass()` and `getHandler()` have no metadata. */
export function httpContext(request: unknown, response: unknown): ExecutionContext {
  const args = [request, response];
  const refuse = (): never => {
    throw new ArgumentError('the execution context belongs to an HTTP request');
  };
  return {
    getClass: <T>() => DeletionEndpoint as Type<T>,
    getHandler: () => DeletionEndpoint,
    getArgs: <T>() => args as T,
    getArgByIndex: <T>(index: number) => args[index] as T,
    getType: <T>() => 'http' as T,
    switchToHttp: () => ({
      getRequest: <T>() => request as T,
      getResponse: <T>() => response as T,
      getNext: <T>() => undefined as T,
    }),
    switchToRpc: refuse,
    switchToWs: refuse,
  };
}
