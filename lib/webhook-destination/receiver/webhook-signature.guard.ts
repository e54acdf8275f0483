import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  Logger,
  type RawBodyRequest,
  UnauthorizedException,
} from '@nestjs/common';

import { checkSecrets, verifySignature } from './signature.util.js';

/** Where {@link WebhookSignatureGuard} finds the shared secret, or the secrets, when it is applied as a class. */
export const WEBHOOK_SECRET = Symbol.for('nestjs-analytics-relay:webhook-secret');

interface SignedRequest {
  headers: Record<string, string | string[] | undefined>;
}

/**
 * Lets a request pass that carries a webhook's signature (§5.1) under one of the secrets; answers any other with 401.
 * The application must keep the bytes it received: `NestFactory.create(AppModule, { rawBody: true })`.
 *
 * `@UseGuards(new WebhookSignatureGuard(secret))`, or `@UseGuards(WebhookSignatureGuard)` in a module that provides
 * {@link WEBHOOK_SECRET}.
 */
@Injectable()
export class WebhookSignatureGuard implements CanActivate {
  private readonly logger = new Logger(WebhookSignatureGuard.name);
  private explained = false;

  /**
   * @param secrets the shared secret, or all that are valid while it is rotated
   * @throws {OptionsError} for a secret that is empty or not set: the application does not start.
   */
  constructor(@Inject(WEBHOOK_SECRET) private readonly secrets: string | readonly string[]) {
    checkSecrets('WebhookSignatureGuard', secrets);
  }

  /** @throws {UnauthorizedException} when no signature matches the body. */
  canActivate(context: ExecutionContext): boolean {
    const { headers, rawBody } = context.switchToHttp().getRequest<RawBodyRequest<SignedRequest>>();
    if (!rawBody) this.explain();
    const signatures = [headers['x-signature'], headers['x-signature-previous']];
    if (signatures.some((signature) => verifySignature(rawBody, signature, this.secrets))) return true;
    throw new UnauthorizedException('the signature does not match the body');
  }

  /** Once: anybody may send a request without a body. */
  private explain(): void {
    if (this.explained) return;
    this.explained = true;
    this.logger.warn('A request has no rawBody: create the application with { rawBody: true }');
  }
}
