/** Holds the active span. */
interface ContextManager {
  active(): OpenTelemetryContext;
  with<T>(context: OpenTelemetryContext, run: () => T): T;
}

interface OpenTelemetryContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OpenTelemetryContext;
}

// All copies of `@opentelemetry/api` 1.x share it.
const API = Symbol.for('opentelemetry.js.api.1');

/** Returns the application's context manager; undefined if OpenTelemetry does not trace the application. */
export function contextManager(): ContextManager | undefined {
  return (globalThis as { [API]?: { context?: ContextManager } })[API]?.context;
}
