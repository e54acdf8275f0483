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
import { verifySignature } from 'nestjs-analytics-relay';

import { SHARED_SECRET } from './receiver.contract.js';

@Controller()
export class ReceiverController {
  private isOff = false;

  /** Takes a webhook: first the signature, over the bytes as they came, then the content. */
  @Post('webhooks')
  @HttpCode(204)
  receive(@Req() request: RawBodyRequest<Request>, @Headers('x-signature') signature: string | undefined): void {
    if (this.isOff) throw new ServiceUnavailableException();
    const rawBody = request.rawBody ?? Buffer.alloc(0);
    if (!verifySignature(rawBody, signature, SHARED_SECRET)) throw new UnauthorizedException();
    console.log(`[receiver] signature verified: ${rawBody.toString()}`);
  }

  /** Switches the receiver off and on. */
  @Post('outage')
  toggleOutage(): string {
    this.isOff = !this.isOff;
    return this.isOff ? 'The receiver is off: it answers 503.\n' : 'The receiver is on.\n';
  }
}
