import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';

import { waitFor } from './wait-for.js';

/** The real SDK, set up for the process; its spans are kept. */
export class Tracing {
  private readonly exporter = new InMemorySpanExporter();
  private readonly provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.exporter)] });

  static start(): Tracing {
    const tracing = new Tracing();
    tracing.provider.register();
    return tracing;
  }

  /** Spans that have ended, the first one first. */
  get spans(): ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  /** Resolves with the spans of a name once there are as many. */
  async named(name: string, count = 1): Promise<ReadableSpan[]> {
    const found = () => this.spans.filter((span) => span.name === name);
    await waitFor(
      () => found().length >= count,
      () => `${count} spans ${name}, got ${this.spans.map((span) => span.name).join(', ')}`,
    );
    return found();
  }

  reset(): void {
    this.exporter.reset();
  }

  async stop(): Promise<void> {
    await this.provider.shutdown();
    trace.disable();
    context.disable();
    propagation.disable();
  }
}

/** Makes a span `server` of each request, as the instrumentation of node:http does. */
export function traceRequests(server: Server): void {
  const emit = server.emit.bind(server) as (event: string, ...args: unknown[]) => boolean;
  server.emit = (event: string, ...args: unknown[]) => {
    if (event !== 'request') return emit(event, ...args);
    const [{ headers }, response] = args as [IncomingMessage, ServerResponse];
    const parent = propagation.extract(context.active(), headers);
    const span = trace.getTracer('test').startSpan('server', { kind: SpanKind.SERVER }, parent);
    response.on('finish', () => span.end());
    return context.with(trace.setSpan(parent, span), () => emit(event, ...args));
  };
}

/** The spans that one links to, by their ids. */
export const linksOf = ({ links }: ReadableSpan) =>
  links.map(({ context: { traceId, spanId } }) => `${traceId} ${spanId}`);

export const idOf = (span: ReadableSpan) => `${span.spanContext().traceId} ${span.spanContext().spanId}`;

export const parentOf = (span: ReadableSpan) =>
  span.parentSpanContext && `${span.parentSpanContext.traceId} ${span.parentSpanContext.spanId}`;
