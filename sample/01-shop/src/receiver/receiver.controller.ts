import {
  Controller,
  Headers,
  HttpCode,
  Post,
  type RawBodyRequest,
  Req,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { verifySignature } from 'nestjs-analytics-relay';

@Controller()
export class ReceiverController {
  private isOff = false;

  constructor(private readonly config: ConfigService) {}

  /** Verifies the signature over the raw body before using the content. */
  @Post('webhooks')
  @HttpCode(204)
  receive(@Req() request: RawBodyRequest<Request>, @Headers('x-signature') signature: string | undefined): void {
    if (this.isOff) throw new ServiceUnavailableException();
    const secret = this.config.getOrThrow<string>('WEBHOOK_SECRET');
    if (!verifySignature(request.rawBody, signature, secret)) throw new UnauthorizedException();
    console.log(`[receiver] signature verified: ${String(request.rawBody)}`);
  }

  /** Switches the receiver off and on. */
  @Post('outage')
  toggleOutage(): string {
    this.isOff = !this.isOff;
    return this.isOff ? 'The receiver is off: it answers 503.\n' : 'The receiver is on.\n';
  }
}
