import { type ArgumentsHost, Catch, HttpException } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { RelayError } from 'nestjs-analytics-relay';

const STATUS: Record<string, number> = {
  options_invalid: 400,
  source_unknown: 404,
  destination_unknown: 404,
  source_exists: 409,
  destination_exists: 409,
};

/** Answers what the relay refuses. Its messages name the field and the rule, and never a secret. */
@Catch(RelayError)
export class RelayErrorFilter extends BaseExceptionFilter {
  override catch(error: RelayError, host: ArgumentsHost): void {
    const { code, message } = error;
    const status = STATUS[code];
    super.catch(status === undefined ? error : new HttpException({ code, message }, status), host);
  }
}
