import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import type { CanActivate, ExecutionContext, HttpException, Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { firstValueFrom, isObservable } from 'rxjs';

import { IngestError } from '../ingest/ingest.error.js';
import type { AdminOptions } from './admin.options.js';

/** Lets in who has the admin token, or whom the application's guard lets in. */
export interface AdminGate {
  /** @throws {IngestError} 401 or 403; or what the guard throws. */
  check(request: IncomingMessage, context: () => ExecutionContext): Promise<void>;
}

/** The gate that the options ask for. A guard class is made with what it injects, wherever the application has it. */
export async function createAdminGate(options: AdminOptions, moduleRef: ModuleRef): Promise<AdminGate> {
  if ('token' in options) return new TokenGate(options.token);
  const { guard } = options;
  return new GuardGate(typeof guard === 'function' ? await resolve(guard, moduleRef) : guard);
}

/** The application's own instance, where it has one; else a new one. */
async function resolve(guard: Type<CanActivate>, moduleRef: ModuleRef): Promise<CanActivate> {
  try {
    return moduleRef.get<CanActivate>(guard, { strict: false });
  } catch {
    return moduleRef.create<CanActivate>(guard);
  }
}

class TokenGate implements AdminGate {
  readonly #digest: Buffer;

  constructor(token: string) {
    this.#digest = sha256(token);
  }

  check({ headers }: IncomingMessage): Promise<void> {
    const [, token] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    if (token !== undefined && timingSafeEqual(sha256(token), this.#digest)) return Promise.resolve();
    const rule = 'the admin token must come as a Bearer token';
    return Promise.reject(new IngestError(401, 'admin_token_wrong', rule, 'Authorization'));
  }
}

class GuardGate implements AdminGate {
  constructor(private readonly guard: CanActivate) {}

  async check(_request: IncomingMessage, context: () => ExecutionContext): Promise<void> {
    let admitted: boolean;
    try {
      const answer = this.guard.canActivate(context());
      admitted = await (isObservable(answer) ? firstValueFrom(answer) : answer);
    } catch (error) {
      if (!isHttpException(error)) throw error;
      throw new IngestError(error.getStatus(), 'admin_only', error.message);
    }
    if (!admitted) throw new IngestError(403, 'admin_only', 'only an administrator may do this');
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Told by its shape: the guard may come with a copy of Nest of its own. */
function isHttpException(error: unknown): error is HttpException {
  return error instanceof Error && typeof (error as Partial<HttpException>).getStatus === 'function';
}
