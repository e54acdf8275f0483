import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';

import type { AnalyticsRequest } from './analytics-request.interface.js';
import { scopes } from './context-scope.js';

/**
 * Opens the scope of a handler that no HTTP request leads to: of a gateway, with its client as the `request`, or of a
 * microservice, with the context of its transport. `identity` then finds there what a guard has put on it.
 * An HTTP request, GraphQL's included, has its scope already, and keeps it.
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
    // Another scope may be open: brokers' clients call back in the one that connected them.
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
