import { SpanKind } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';

/** What a line shows of a span, where it has it. */
const SHOWN = {
  'analytics_relay.delivery.attempt': 'attempt',
  'analytics_relay.delivery.state': 'state',
  'http.response.status_code': 'status',
  'error.type': 'error',
};

/** The spans below each other, and below those that they link to, the first one first. */
export function traceTree(spans: readonly ReadableSpan[]): string {
  const sorted = [...spans].sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
  const ids = new Set(sorted.map(idOf));
  const above = (span: ReadableSpan) => {
    const ofParent = span.parentSpanContext?.spanId;
    const id = ofParent ?? span.links[0]?.context.spanId;
    return id !== undefined && ids.has(id) ? id : undefined;
  };
  const lines = (parent: string | undefined, indent: string): string[] => {
    const children = sorted.filter((span) => above(span) === parent);
    return children.flatMap((span, index) => {
      const isLast = index === children.length - 1;
      const [branch, below] = parent === undefined ? ['', ''] : isLast ? ['└─ ', '   '] : ['├─ ', '│  '];
      return [`${indent}${branch}${lineOf(span)}`, ...lines(idOf(span), indent + below)];
    });
  };
  return lines(undefined, '').join('\n');
}

function idOf(span: ReadableSpan): string {
  return span.spanContext().spanId;
}

function lineOf(span: ReadableSpan): string {
  const { name, kind, links, parentSpanContext, attributes } = span;
  const details = Object.entries(SHOWN).flatMap(([key, text]) =>
    key in attributes ? `${text} ${String(attributes[key])}` : [],
  );
  const linked = !parentSpanContext && links.length > 0 ? ['linked, trace of its own'] : [];
  const more = [...linked, ...details].join(', ');
  return `${name} ${SpanKind[kind]}${more && ` (${more})`}`;
}
