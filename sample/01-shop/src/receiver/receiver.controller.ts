import {
  Controller,
  Headers,
  HttpCode,
  Post,
  type RawBodyRequest,
  Req,
  ServiceUnavailableException,
  UseGuards,
} from '@nestjs/common';
import { WebhookSignatureGuard } from 'nestjs-analytics-relay';

@Controller()
export class ReceiverController {
  private isOff = false;
  private readonly processed = new Set<string>();

  /** The guard has verified id, time and raw body. A real receiver stores the ids with what it makes of the messages. */
  @Post('webhooks')
  @HttpCode(204)
  @UseGuards(WebhookSignatureGuard)
  receive(@Req() request: RawBodyRequest<Request>, @Headers('webhook-id') id: string): void {
    if (this.isOff) throw new ServiceUnavailableException();
    if (this.processed.has(id)) return;
    this.processed.add(id);
    console.log(`[receiver] signature verified: ${String(request.rawBody)}`);
  }

  /** Switches the receiver off and on. */
  @Post('outage')
  toggleOutage(): string {
    this.isOff = !this.isOff;
    return this.isOff ? 'The receiver is off: it answers 503.\n' : 'The receiver is on.\n';
  }
}
