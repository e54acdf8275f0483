import type { IncomingMessage } from 'node:http';

import type { CanActivate, ExecutionContext, HttpException, Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { firstValueFrom, isObservable } from 'rxjs';

import { RelayError } from '../../client/relay.error.js';
import type { AddressReader } from '../http/client-address.js';
import { ArgumentError } from '../../common/relay.errors.js';
import type { PlatformPair } from '../http/http.mount.js';
import { RequestError } from '../http/request.error.js';
import type { AdminAccess, AdminCaller, AdminGuardOptions, AdminOptions } from './admin.options.js';
import { AdminTokens } from './admin.tokens.js';
import type { AuditLog } from './audit.log.js';
import { readSession } from './session.cookie.js';
import { SignInLimit } from './sign-in.limit.js';

/**
 * Authenticates requests to the admin routes by a configured token, by a session or by the application's guard. All
 * admin routes share one gate, and each of them calls it, because global guards do not reach them.
 */
export class AdminGate {
  readonly #options: AdminOptions; // private, because it may contain tokens
  readonly #tokens: AdminTokens | undefined;
  private readonly limit = new SignInLimit();
  private guard: CanActivate | undefined;
  private isOpen = false;

  constructor(
    options: AdminOptions,
    readonly addressOf: AddressReader,
    private readonly audit: AuditLog,
  ) {
    this.#options = options;
    if ('token' in options) this.#tokens = new AdminTokens(options);
  }

  /** Resolves the guard. A class is looked up in all modules of the application, or created with its dependencies. */
  async prepare(moduleRef: ModuleRef): Promise<void> {
    if (!('guard' in this.#options)) return;
    const { guard } = this.#options;
    this.guard = typeof guard === 'function' ? await resolve(guard, moduleRef) : guard;
  }

  /** Admits requests from now on. */
  open(): void {
    this.isOpen = true;
  }

  /**
   * Resolves with the caller if the caller has the needed access.
   *
   * @throws {RequestError} 401, 403 or 429; otherwise the guard's own error
   */
  async authorize(platform: PlatformPair, needed: AdminAccess = 'write'): Promise<AdminCaller> {
    if (!this.isOpen) throw new RelayError('starting', 'the application is still starting');
    const caller = await this.authenticate(platform);
    if (needed === 'read' || caller.access === 'write') return caller;
    throw new RequestError('read_only', 'the caller may only read');
  }

  /** Like {@link authorize}, but also works before the application has started, and accepts callers with any access. */
  async authenticate(platform: PlatformPair): Promise<AdminCaller> {
    if (!this.#tokens) return this.authenticateByGuard(platform);
    const request = platform[0] as IncomingMessage & { raw?: IncomingMessage };
    return this.authenticateByToken(request.raw ?? request);
  }

  /** Whether callers sign in with a token. */
  get hasTokens(): boolean {
    return this.#tokens !== undefined;
  }

  /**
   * Signs in with a token.
   *
   * @throws {RequestError} 401 for a wrong token, 429 if the address must wait, 404 if a guard is configured
   */
  async signIn(request: IncomingMessage, token: string): Promise<{ caller: AdminCaller; session: string }> {
    const tokens = this.#tokens;
    if (!tokens) throw new RequestError('sign_in_unknown', "sign-in is up to the application's guard");
    const caller = await this.check(request, token);
    return { caller, session: tokens.sign(caller, Date.now()) };
  }

  private async authenticateByToken(request: IncomingMessage): Promise<AdminCaller> {
    const [, token] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token !== undefined) return this.check(request, token);
    const session = readSession(request);
    const caller = session === undefined ? undefined : this.#tokens!.verify(session, Date.now());
    if (caller) return caller;
    const rule = 'the request needs the admin token as a Bearer token, or the cookie of a session that has not expired';
    throw new RequestError('admin_token_wrong', rule, 'Authorization');
  }

  private async check(request: IncomingMessage, token: string): Promise<AdminCaller> {
    const address = this.addressOf(request);
    try {
      return await this.limit.admit(address, token, () => this.#tokens!.find(token));
    } catch (error) {
      this.audit.refused(address, (error as RequestError).code);
      throw error;
    }
  }

  private async authenticateByGuard(platform: PlatformPair): Promise<AdminCaller> {
    const options = this.#options as AdminGuardOptions;
    let admitted: boolean;
    try {
      const answer = this.guard!.canActivate(toContext(platform));
      admitted = await (isObservable(answer) ? firstValueFrom(answer) : answer);
    } catch (error) {
      if (!isHttpException(error)) throw error;
      throw new RequestError('admin_only', error.message, undefined, error.getStatus());
    }
    if (!admitted) throw new RequestError('admin_only', 'only an administrator may do this');
    const [request] = platform;
    const access: unknown = options.access ? await options.access(request) : 'write';
    if (access !== 'read' && access !== 'write') {
      throw new RequestError('admin_only', "admin.access must return 'read' or 'write' to admit a caller");
    }
    return { access, by: 'guard', user: userOf(request) };
  }
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
    getClass: <T>() => AdminGate as Type<T>,
    getHandler: () => AdminGate,
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
  const user = (Object(request) as { user?: unknown }).user;
  const { id, sub, email, username } = Object(user) as Record<string, unknown>;
  const known = [user, id, sub, email, username].find(
    (value): value is string | number => (typeof value === 'string' && value !== '') || typeof value === 'number',
  );
  return known === undefined ? undefined : String(known);
}
