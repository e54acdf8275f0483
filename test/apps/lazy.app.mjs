// An application that OpenTelemetry traces, and that loads the client in its first request.
import { trace } from '@opentelemetry/api';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

new NodeTracerProvider().register();

const isTraced = () => trace.getActiveSpan() !== undefined;

await trace.getTracer('test').startActiveSpan('request', async () => {
  const { Analytics } = await import('nestjs-analytics-relay/client');
  const httpClient = () => {
    console.log(`a span of the batch: ${isTraced()}`);
    return Promise.resolve({ status: 200 });
  };
  const analytics = new Analytics({ writeKey: 'wk', httpClient });
  console.log(`an active span: ${isTraced()}`);
  analytics.track({ userId: 'u', event: 'E' });
  await analytics.flush();
});
