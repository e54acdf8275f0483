import type { CanActivate, ExecutionContext, HttpException, Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { firstValueFrom, isObservable } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import type { LimitedLogger } from '../../common/limited.logger.js';
import { ArgumentError } from '../../common/relay.errors.js';
import type { PlatformPair } from '../http/http.mount.js';
import { RequestError } from '../http/request.error.js';
import type { AdminCaller, AdminGuardOptions } from './admin.options.js';

const NO_USER =
  'admin.guard admitted a request that has no user, which is refused. Set request.user in the guard, or set ' +
  'admin.access to decide without it';

/** Identifies callers by the guard of the application. */
export class ApplicationGuard {
  private guard!: CanActivate;

  constructor(
    private readonly options: AdminGuardOptions,
    private readonly logger: LimitedLogger,
  ) {}

  /** A class is looked up in all modules of the application, or created with its dependencies. */
  async prepare(moduleRef: ModuleRef): Promise<void> {
    const { guard } = this.options;
    this.guard = typeof guard === 'function' ? await resolve(guard, moduleRef) : guard;
  }

  /**
   * Resolves with the caller of a request that the guard admits, if the request has a user or `access` decides.
   *
   * @throws {RequestError} 403, the status of the guard's exception, or 500 for any other error of the guard
   */
  async identify(platform: PlatformPair): Promise<AdminCaller> {
    const caller = await this.ask(platform);
    if (this.options.access || propertyUser(platform[0])) return caller;
    this.logger.once(NO_USER);
    throw refusal();
  }

  /**
   * Asks the guard and the option `access`, even before the application has started.
   *
   * @throws {RequestError} 403, the status of the guard's exception, or 500 for any other error of the guard
   */
  async ask(platform: PlatformPair): Promise<AdminCaller> {
    const [request] = platform;
    let admitted: boolean;
    let access: unknown;
    try {
      const answer = this.guard.canActivate(toContext(platform));
      admitted = await (isObservable(answer) ? firstValueFrom(answer) : answer);
      access = admitted && this.options.access ? await this.options.access(request) : 'write';
    } catch (error) {
      if (isHttpException(error)) throw new RequestError('admin_only', error.message, undefined, error.getStatus());
      this.logger.limited('error', `admin.guard or admin.access failed: ${errorMessage(error)}`);
      throw new RequestError('admin_only', 'the guard of the application failed', undefined, 500);
    }
    if (!admitted) throw refusal();
    if (access !== 'read' && access !== 'write') {
      throw new RequestError('admin_only', "admin.access must return 'read' or 'write' to admit a caller");
    }
    return { access, by: 'guard', user: userOf(request) };
  }
}

function refusal(): RequestError {
  return new RequestError('admin_only', 'only an administrator may do this');
}

/** Returns the application's own instance of the guard if there is one, otherwise a new one. */
async function resolve(guard: Type<CanActivate>, moduleRef: ModuleRef): Promise<CanActivate> {
  try {
    return moduleRef.get<CanActivate>(guard, { strict: false });
  } catch {
    return moduleRef.create<CanActivate>(guard);
  }
}

/** Checks the shape rather than the class, because the guard may use another copy of Nest. */
function isHttpException(error: unknown): error is HttpException {
  return error instanceof Error && typeof (error as Partial<HttpException>).getStatus === 'function';
}

/** Creates the context of a guard that runs outside a controller: `getClass()` and `getHandler()` have no metadata. */
function toContext(args: PlatformPair): ExecutionContext {
  const refuse = (): never => {
    throw new ArgumentError('the execution context belongs to an HTTP request');
  };
  return {
    getClass: <T>() => ApplicationGuard as Type<T>,
    getHandler: () => ApplicationGuard,
    getArgs: <T>() => args as T,
    getArgByIndex: <T>(index: number) => args[index] as T,
    getType: <T>() => 'http' as T,
    switchToHttp: () => ({
      getRequest: <T>() => args[0] as T,
      getResponse: <T>() => args[1] as T,
      getNext: <T>() => undefined as T,
    }),
    switchToRpc: refuse,
    switchToWs: refuse,
  };
}

/** Returns the user of a request, from the properties that guards usually set on it. */
function userOf(request: unknown): string | undefined {
  const user = propertyUser(request);
  const { id, sub, email, username } = Object(user) as Record<string, unknown>;
  const known = [user, id, sub, email, username].find(
    (value): value is string | number => (typeof value === 'string' && value !== '') || typeof value === 'number',
  );
  return known === undefined ? undefined : String(known);
}

/** On Fastify, middleware sets the user on Node's request. */
function propertyUser(request: unknown): unknown {
  const { user, raw } = Object(request) as { user?: unknown; raw?: { user?: unknown } };
  return user ?? raw?.user;
}
