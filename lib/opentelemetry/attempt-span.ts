import { type Attributes, type Context, SpanKind } from '@opentelemetry/api';

import { errorMessage } from '../client/error.util.js';
import { foundOnce } from '../common/found-once.util.js';
import { errorTypeOf, OTHER_ERROR, serverOf } from '../common/telemetry/attributes.util.js';
import type { AttemptSpan, RequestSpan, RequestTarget } from '../common/telemetry/telemetry.interface.js';
import {
  REQUEST_METHOD,
  RESEND_COUNT,
  SERVER_ADDRESS,
  SERVER_PORT,
  STATE,
  STATUS_CODE,
  URL_FULL,
} from './attributes.js';
import type { GuardedSpan, GuardedTracer } from './guarded.tracer.js';

/** Span attributes of a target: the same for each request to it. */
const attributesOf = foundOnce(({ shown }: RequestTarget): Attributes => {
  const { address, port } = serverOf(shown);
  return { [REQUEST_METHOD]: 'POST', [SERVER_ADDRESS]: address, [SERVER_PORT]: port, [URL_FULL]: shown };
}, new WeakMap());

/** The recorded span of one attempt, with a child span for each request. */
export class OpenTelemetryAttempt implements AttemptSpan {
  /** `error.type` of the last request; undefined if it succeeded. */
  private errorType: string | undefined;

  /** @param earlier number of attempts before this one */
  constructor(
    private readonly tracer: GuardedTracer,
    private readonly span: GuardedSpan,
    private readonly parent: Context,
    private readonly earlier: number,
  ) {}

  request(target: RequestTarget): RequestSpan {
    const attributes = { ...attributesOf(target), ...(this.earlier > 0 && { [RESEND_COUNT]: this.earlier }) };
    const parent = this.span.activeIn(this.parent);
    const span = this.tracer.startSpan('POST', { kind: SpanKind.CLIENT, attributes }, parent);
    return {
      trace: span.fields,
      end: (status, error) => {
        if (status !== undefined) span.setAttributes({ [STATUS_CODE]: status });
        const errorType = errorTypeOf(status, error);
        if (errorType !== undefined) span.fail(errorType, error === undefined ? undefined : errorMessage(error));
        this.errorType = errorType;
        span.end();
      },
    };
  }

  end(state: string): void {
    this.span.setAttributes({ [STATE]: state });
    if (state !== 'delivered') this.span.fail(this.errorType ?? OTHER_ERROR);
    this.span.end();
  }
}

/** An unrecorded attempt and its requests: they have no spans of their own, but its trace is still propagated. */
export class UnrecordedAttempt implements AttemptSpan, RequestSpan {
  constructor(private readonly span: GuardedSpan) {}

  get trace(): RequestSpan['trace'] {
    return this.span.fields;
  }

  request(): RequestSpan {
    return this;
  }

  end(): void {
    // nothing is recorded
  }
}
