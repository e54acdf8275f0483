import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';

import type { AnalyticsRequest } from './analytics-request.interface.js';
import { type ContextScope, currentScope } from './context-scope.js';
import { bindToScope, openScope } from './opened-scope.util.js';

/**
 * Opens a scope for a handler that is not called by an HTTP request: of a gateway, a microservice, a GraphQL
 * subscription, or any other transport. The scope's `request` is the client of a gateway, the transport context of a
 * microservice, the context of a GraphQL operation (or its `req`), and the handler's first argument on any other
 * transport; `identity` can read there what a guard has set. HTTP requests already have a scope and keep it.
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
    const origin = currentScope()?.origin;
    // Another scope may be open: clients of brokers call back in the scope that connected them.
    const isOpen = origin?.request === request || (context.getType<string>() === 'graphql' && origin?.response);
    if (isOpen) return next.handle();
    const method = `${context.getClass().name}.${context.getHandler().name}`;
    const scope: ContextScope = { origin: { request }, method };
    // A GraphQL subscription returns a generator that runs later.
    return openScope(scope, () => next.handle().pipe(map((value: unknown) => bindToScope(scope, value))));
  }
}

function requestOf(context: ExecutionContext): AnalyticsRequest {
  const [first, second, third] = context.getArgs<(AnalyticsRequest | undefined)[]>();
  const type = context.getType<string>();
  const given = type === 'rpc' ? second : type === 'graphql' ? ((third?.req as AnalyticsRequest) ?? third) : first;
  return typeof given === 'object' && given !== null ? given : {};
}
