/** The part of OpenTelemetry that all copies of `@opentelemetry/api` 1.x share, on `globalThis`. */
interface OpenTelemetryGlobal {
  context?: ContextManager | undefined;
}

/** Where the active span is kept. */
export interface ContextManager {
  active(): OpenTelemetryContext;
  with<T>(context: OpenTelemetryContext, run: () => T): T;
}

interface OpenTelemetryContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OpenTelemetryContext;
}

const API = Symbol.for('opentelemetry.js.api.1');

/** That of the application; undefined where it is not traced by OpenTelemetry. */
export function contextManager(): ContextManager | undefined {
  return (globalThis as { [API]?: OpenTelemetryGlobal })[API]?.context;
}
