import { createRequire } from 'node:module';

import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

/** Stands for a collector: keeps the spans. An application has an OTLP exporter here. */
export const exporter = new InMemorySpanExporter();

const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
tracerProvider.register();
// The receiver is somebody else's server, and would not be part of this trace.
const ignoreIncomingRequestHook = ({ url = '' }) => /^\/(hook|health|relay)/.test(url);
registerInstrumentations({
  tracerProvider,
  instrumentations: [new HttpInstrumentation({ ignoreIncomingRequestHook })],
});
createRequire(import.meta.url)('node:http'); // patched when it is required; ES modules then import it as it is
