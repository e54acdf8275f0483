import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  Optional,
  type RawBodyRequest,
  UnauthorizedException,
} from '@nestjs/common';

import { LimitedLogger } from '../../common/limited.logger.js';
import { OptionsError } from '../../common/options.error.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { verifySignature } from './signature.util.js';
import { checkTolerance, type StandardWebhookOptions, verifyStandardWebhook } from './standard-webhook.util.js';
import { isVerifyingSecret, kindOfSecret, toStandardKey, VERIFYING_RULE } from './webhook-secret.rules.js';

/** Injection token for the shared secret or public key, or several, of a {@link WebhookSignatureGuard} applied as a class. */
export const WEBHOOK_SECRET = Symbol.for('nestjs-analytics-relay:webhook-secret');

interface SignedRequest {
  headers: Record<string, string | string[] | undefined>;
}

/**
 * Admits requests signed with one of the secrets; answers others with 401.
 * A request with `webhook-signature` is verified by {@link verifyStandardWebhook}, which covers id, time and body. A
 * request without it is verified by `X-Signature`, except with secrets that begin with `whsec_` or `whpk_`: otherwise a
 * captured request could be replayed at any time, stripped of the other headers.
 * The application must keep raw bodies: `NestFactory.create(AppModule, { rawBody: true })`.
 *
 * Use `@UseGuards(new WebhookSignatureGuard(secret))`, or `@UseGuards(WebhookSignatureGuard)` in a module that provides
 * {@link WEBHOOK_SECRET}.
 */
@Injectable()
export class WebhookSignatureGuard implements CanActivate {
  private readonly verify: (rawBody: Buffer | undefined, headers: SignedRequest['headers']) => boolean;
  private readonly faults = new LimitedLogger(WebhookSignatureGuard.name);

  /**
   * @param secrets the shared secret or public key (`whpk_`), or all that are valid during rotation
   * @throws {OptionsError} if a secret is empty or not set, if it is `whsec_` with less than 24 bytes of base64 or
   * `whpk_` without a public key, or if the tolerance is invalid; the application then does not start.
   */
  constructor(
    @Inject(WEBHOOK_SECRET) secrets: string | readonly string[],
    @Optional() options: StandardWebhookOptions = {},
  ) {
    const all = checkSecrets(secrets);
    if (options.tolerance !== undefined) checkTolerance(WebhookSignatureGuard.name, options.tolerance);
    const plain = all.filter((secret) => kindOfSecret(secret) === 'text');
    const standard = all.filter((secret) => !plain.includes(secret) || toStandardKey(secret) !== undefined);
    // A closure conceals the secrets, also where the guard is used through a proxy.
    this.verify = (rawBody, headers) => {
      if (headers['webhook-signature'] !== undefined && standard.length > 0) {
        return verifyStandardWebhook(rawBody, headers, standard, options);
      }
      if (plain.length === 0) {
        if (headers['x-signature'] !== undefined) this.faults.once(NO_STANDARD_HEADERS);
        return false;
      }
      const signatures = [headers['x-signature'], headers['x-signature-previous']];
      return signatures.some((signature) => verifySignature(rawBody, signature, plain));
    };
  }

  /** @throws {UnauthorizedException} when the signature is missing, wrong or too old. */
  canActivate(context: ExecutionContext): boolean {
    const { headers, rawBody } = context.switchToHttp().getRequest<RawBodyRequest<SignedRequest>>();
    if (!rawBody) this.faults.once('A request has no rawBody: create the application with { rawBody: true }');
    if (this.verify(rawBody, headers)) return true;
    throw new UnauthorizedException('the signature is missing, wrong or too old');
  }
}

const NO_STANDARD_HEADERS =
  'A request has only X-Signature. With a whsec_ secret or a whpk_ key, the Standard Webhooks headers are required';

/** @throws {OptionsError} unless there is a secret and all are valid. */
function checkSecrets(secrets: unknown): string[] {
  const all: unknown[] = [secrets].flat();
  const faults: string[] = [];
  if (all.length === 0 || !all.every(isNonEmptyString)) {
    faults.push('the secret must be a non-empty string, or an array of them');
  }
  if (!all.filter(isNonEmptyString).every(isVerifyingSecret)) faults.push(VERIFYING_RULE);
  if (faults.length > 0) throw new OptionsError(WebhookSignatureGuard.name, faults);
  return all as string[];
}
