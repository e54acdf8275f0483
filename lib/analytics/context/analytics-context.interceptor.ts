import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';

import type { AnalyticsRequest } from './analytics-request.interface.js';
import { scopes } from './context.scope.js';

/**
 * Opens the scope of a handler that no HTTP request leads to: of a gateway, with its client as the `request`, or of a
 * microservice, with the context of its transport. `identity` then finds there what a guard has put on it.
 * In an HTTP request, GraphQL included, the scope is open already and stays.
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
    const open = scopes.getStore()?.request;
    // What clients of brokers call back may still be in the scope that connected them.
    const isMessage = ['rpc', 'ws'].includes(context.getType());
    if (open && (!isMessage || open === request)) return next.handle();
    return new Observable((subscriber) => scopes.run({ request }, () => next.handle().subscribe(subscriber)));
  }
}

function requestOf(context: ExecutionContext): AnalyticsRequest | undefined {
  switch (context.getType<string>()) {
    case 'ws':
      return context.switchToWs().getClient();
    case 'rpc':
      return context.switchToRpc().getContext();
    case 'http':
      return context.switchToHttp().getRequest();
    default: {
      // GraphQL, as in a subscription: the context is the third argument, and holds the request where there is one.
      const graphql = context.getArgByIndex<{ req?: AnalyticsRequest } | undefined>(2);
      return graphql?.req ?? graphql;
    }
  }
}
