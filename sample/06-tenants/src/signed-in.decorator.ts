import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';

import type { Person } from './accounts.js';
import { SessionsService } from './sessions.service.js';

interface AppRequest {
  headers: { cookie?: string };
  person?: Person;
}

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<AppRequest>();

/** Admits people who have signed in. */
@Injectable()
export class SignedInGuard implements CanActivate {
  constructor(private readonly sessions: SessionsService) {}

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    request.person = this.sessions.find(request.headers.cookie);
    if (request.person) return true;
    throw new UnauthorizedException('sign in first');
  }
}

/** The person who has signed in. */
export const SignedIn = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context).person);
