import type { ContextType, ExecutionContext, Type } from '@nestjs/common';

/** What a guard is asked with, outside a controller: its metadata is looked for on `owner`. */
export class HttpContext implements ExecutionContext {
  constructor(
    private readonly owner: Type,
    private readonly args: [request: unknown, response: unknown],
  ) {}

  getClass<T>(): Type<T> {
    return this.owner as Type<T>;
  }

  getHandler(): Type {
    return this.owner;
  }

  getArgs<T extends unknown[]>(): T {
    return this.args as unknown as T;
  }

  getArgByIndex<T>(index: number): T {
    return this.args[index] as T;
  }

  getType<T extends string = ContextType>(): T {
    return 'http' as T;
  }

  switchToHttp(): ReturnType<ExecutionContext['switchToHttp']> {
    const [request, response] = this.args;
    return {
      getRequest: <T>() => request as T,
      getResponse: <T>() => response as T,
      getNext: <T>() => undefined as T,
    };
  }

  switchToRpc(): never {
    throw new Error('an HTTP request is no RPC message');
  }

  switchToWs(): never {
    throw new Error('an HTTP request is no WebSocket message');
  }
}
