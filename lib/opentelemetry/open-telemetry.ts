import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  trace,
} from '@opentelemetry/api';

import { errorMessage } from '../client/error.util.js';
import type { ClientTelemetry, ObservedClient, SentBatch } from '../client/telemetry/client-telemetry.interface.js';
import { fromTraceText, type TraceFields } from '../client/telemetry/trace-context.js';
import { VERSION } from '../client/version.js';
import { OptionsError, throwFaults } from '../common/options.error.js';
import { findAbsence, findOptionFaults, toOptions } from '../common/options.rules.js';
import { ClientMetrics } from '../common/telemetry/client-metrics.js';
import { countByDestination, errorTypeOf } from '../common/telemetry/attributes.util.js';
import type { Metric } from '../common/telemetry/metric.js';
import type { AttemptedDelivery, AttemptSpan, Telemetry } from '../common/telemetry/telemetry.interface.js';
import {
  ATTEMPT,
  BATCH_COUNT,
  DESTINATION_NAME,
  MESSAGE_ID,
  MESSAGING_SYSTEM,
  OPERATION_NAME,
  OPERATION_TYPE,
  SOURCE,
  SYSTEM,
} from './attributes.js';
import { OpenTelemetryAttempt, UnrecordedAttempt } from './attempt-span.js';
import { GuardedTracer } from './guarded.tracer.js';
import { bridge, SCOPE } from './metrics.bridge.js';
import { OpenTelemetryOptions } from './open-telemetry.options.js';

/** Maximum number of links that the SDK keeps for a span. */
const MAX_LINKS = 128;

/**
 * Reports spans and metrics through OpenTelemetry. The result is for the option `telemetry` of `AnalyticsModule`,
 * `WebhookDestinationModule` and `Analytics`. Requires the package `@opentelemetry/api`, and an SDK that the
 * application sets up.
 *
 * @throws {OptionsError} naming each invalid option and its rule
 * @see docs/observability.md
 */
export function openTelemetry(given: Partial<OpenTelemetryOptions> = {}): Telemetry {
  const absence = findAbsence(given);
  if (absence.length > 0) throw new OptionsError('openTelemetry', absence);
  const options = toOptions(OpenTelemetryOptions, given);
  const faults = findOptionFaults(options);
  throwFaults('openTelemetry', faults);
  return new OpenTelemetry(options);
}

/** Creates the spans of clients and relays, as listed in docs/observability.md. */
class OpenTelemetry implements Telemetry {
  readonly create: ClientTelemetry['create'];
  private readonly tracer: GuardedTracer;

  constructor(private readonly options: OpenTelemetryOptions) {
    // The global tracer passes calls on to a provider that is set later.
    this.tracer = new GuardedTracer((options.tracerProvider ?? trace).getTracer(SCOPE, VERSION));
    this.create = options.createSpans ? (_type, source) => this.createSpan(source) : undefined;
  }

  follow(client: ObservedClient): ClientTelemetry {
    const metrics = ClientMetrics.ofProcess();
    this.observe(metrics.all);
    return metrics.follow(client, this, this.options.source);
  }

  observe(metrics: readonly Metric[]): () => void {
    return bridge(metrics, this.options.meterProvider);
  }

  async send(
    { source = this.options.source, count, traces }: SentBatch,
    send: () => Promise<unknown>,
  ): Promise<unknown> {
    const span = this.tracer.startSpan(
      `send ${source}`,
      {
        kind: SpanKind.CLIENT,
        attributes: { ...attributesOf('send', 'send', source), [BATCH_COUNT]: count },
        links: toLinks(traces),
      },
      ROOT_CONTEXT,
    );
    const reason = await context.with(span.activeIn(ROOT_CONTEXT), send);
    if (reason !== undefined) span.fail(errorTypeOf(undefined, reason)!, errorMessage(reason));
    span.end();
    return reason;
  }

  async enqueue(deliveries: readonly { destination: string }[], add: () => Promise<void>): Promise<void> {
    const spans = Array.from(countByDestination(deliveries), ([destination, count]) =>
      this.tracer.startSpan(`enqueue ${destination}`, {
        kind: SpanKind.CLIENT,
        attributes: { ...attributesOf('enqueue', 'send', destination), [BATCH_COUNT]: count },
      }),
    );
    try {
      await add();
    } catch (error) {
      for (const span of spans) span.fail(errorTypeOf(undefined, error)!, errorMessage(error));
      throw error;
    } finally {
      for (const span of spans) span.end();
    }
  }

  attempt({ destination, source, messageId, trace: text, attempts }: AttemptedDelivery): AttemptSpan {
    const recorded = text === undefined ? undefined : fromTraceText(text);
    const isChild = recorded !== undefined && this.options.attempts === 'child';
    const links: Link[] = recorded && !isChild ? toLinks([recorded]) : [];
    const parent = isChild ? toParent(recorded) : ROOT_CONTEXT;
    const span = this.tracer.startSpan(
      `process ${destination}`,
      { kind: SpanKind.CONSUMER, links, attributes: attributesOf('process', 'process', destination) },
      parent,
    );
    if (!span.isRecorded) return new UnrecordedAttempt(span);
    // Only now: samplers have no use for these, and the SDK checks each attribute of a span before it asks them.
    span.setAttributes({ [MESSAGE_ID]: messageId, [SOURCE]: source, [ATTEMPT]: attempts.length + 1 });
    return new OpenTelemetryAttempt(this.tracer, span, parent, attempts.length);
  }

  private createSpan(source = this.options.source): TraceFields | undefined {
    const span = this.tracer.startSpan(`create ${source}`, {
      kind: SpanKind.PRODUCER,
      attributes: attributesOf('create', 'create', source),
    });
    span.end();
    return span.isSampled ? span.fields : undefined;
  }
}

/** Returns the attributes that every span of an operation has. */
function attributesOf(operation: string, type: string, destination: string): Attributes {
  return {
    [MESSAGING_SYSTEM]: SYSTEM,
    [OPERATION_NAME]: operation,
    [OPERATION_TYPE]: type,
    [DESTINATION_NAME]: destination,
  };
}

/** Returns the context of the remote span that the fields identify. */
function toSpanContext({ traceparent, tracestate }: TraceFields): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    traceState: tracestate === undefined ? undefined : createTraceState(tracestate),
    isRemote: true,
  };
}

function toParent(fields: TraceFields): Context {
  return trace.setSpanContext(ROOT_CONTEXT, toSpanContext(fields));
}

function toLinks(traces: readonly TraceFields[]): Link[] {
  return traces.slice(0, MAX_LINKS).map((fields) => ({ context: toSpanContext(fields) }));
}
