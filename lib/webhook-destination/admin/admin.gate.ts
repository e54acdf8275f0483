import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import type { CanActivate, ExecutionContext, HttpException, Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { firstValueFrom, isObservable } from 'rxjs';

import { RequestError } from '../ingest/request.error.js';
import type { AdminAccess, AdminOptions } from './admin.options.js';

/**
 * Resolves for a request with an admin token, or one that the application's guard admits, where it may do what it is for.
 * @throws {RequestError} 401 or 403; or what the guard throws.
 */
export type AdminGate = (context: ExecutionContext, need: AdminAccess) => Promise<void>;

/** The gate that the options select. A guard class is created with its dependencies, from any module of the application. */
export async function createAdminGate(options: AdminOptions, moduleRef: ModuleRef): Promise<AdminGate> {
  if ('token' in options) return tokenGate(options.token, options.readToken);
  const { guard, access } = options;
  return guardGate(typeof guard === 'function' ? await resolve(guard, moduleRef) : guard, access);
}

/** The application's own instance, where it has one; else a new one. */
async function resolve(guard: Type<CanActivate>, moduleRef: ModuleRef): Promise<CanActivate> {
  try {
    return moduleRef.get<CanActivate>(guard, { strict: false });
  } catch {
    return moduleRef.create<CanActivate>(guard);
  }
}

function tokenGate(expected: string, readToken: string | undefined): AdminGate {
  const digest = sha256(expected);
  const readDigest = readToken === undefined ? undefined : sha256(readToken);
  return (context, need) => {
    const { headers } = context.switchToHttp().getRequest<Pick<IncomingMessage, 'headers'>>();
    const [, token] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    const given = sha256(token ?? '');
    if (token !== undefined && timingSafeEqual(given, digest)) return Promise.resolve();
    if (token !== undefined && readDigest && timingSafeEqual(given, readDigest)) return admitReader(need);
    const rule = 'the admin token must come as a Bearer token';
    return Promise.reject(new RequestError(401, 'admin_token_wrong', rule, 'Authorization'));
  };
}

function guardGate(guard: CanActivate, access: ((request: never) => AdminAccess) | undefined): AdminGate {
  return async (context, need) => {
    let admitted: boolean;
    try {
      const answer = guard.canActivate(context);
      admitted = await (isObservable(answer) ? firstValueFrom(answer) : answer);
    } catch (error) {
      if (!isHttpException(error)) throw error;
      throw new RequestError(error.getStatus(), 'admin_only', error.message);
    }
    if (!admitted) throw new RequestError(403, 'admin_only', 'only an administrator may do this');
    if (access && access(context.switchToHttp().getRequest<never>()) !== 'write') await admitReader(need);
  };
}

/** Admits who may only look. */
function admitReader(need: AdminAccess): Promise<void> {
  if (need === 'read') return Promise.resolve();
  return Promise.reject(new RequestError(403, 'admin_read_only', 'the caller may look, and change nothing'));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** By its shape, because the guard may use another copy of Nest. */
function isHttpException(error: unknown): error is HttpException {
  return error instanceof Error && typeof (error as Partial<HttpException>).getStatus === 'function';
}
