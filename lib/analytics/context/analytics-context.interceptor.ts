import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';

import type { AnalyticsRequest } from './analytics-request.interface.js';
import { scopes } from './context-scope.js';

/**
 * Opens a scope for a handler that is not called by an HTTP request. The scope's `request` is the client of a gateway,
 * or the transport context of a microservice; `identity` can read there what a guard has set. HTTP requests, including
 * those of GraphQL, already have a scope and keep it.
 *
 * @example
 * ```ts
 * @UseInterceptors(AnalyticsContextInterceptor)
 * @WebSocketGateway()
 * export class ChatGateway {}
 * ```
 */
@Injectable()
export class AnalyticsContextInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = requestOf(context);
    // Another scope may be open: clients of brokers call back in the scope that connected them.
    if (!request || scopes.getStore()?.request === request) return next.handle();
    const method = `${context.getClass().name}.${context.getHandler().name}`;
    return new Observable((subscriber) => scopes.run({ request, method }, () => next.handle().subscribe(subscriber)));
  }
}

function requestOf(context: ExecutionContext): AnalyticsRequest | undefined {
  const type = context.getType();
  if (type === 'ws') return context.switchToWs().getClient();
  return type === 'rpc' ? context.switchToRpc().getContext() : undefined;
}
