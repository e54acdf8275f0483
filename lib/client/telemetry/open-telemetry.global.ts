/** Holds the active span. */
interface ContextManager {
  active(): OpenTelemetryContext;
  with<T>(context: OpenTelemetryContext, run: () => T): T;
}

interface OpenTelemetryContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OpenTelemetryContext;
  deleteValue(key: symbol): OpenTelemetryContext;
}

// All copies of `@opentelemetry/api` 1.x share it.
const API = Symbol.for('opentelemetry.js.api.1');

/** Key of the active span in a context. */
export const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

/** Returns the application's context manager; undefined if OpenTelemetry does not trace the application. */
export function contextManager(): ContextManager | undefined {
  return (globalThis as { [API]?: { context?: ContextManager } })[API]?.context;
}

/** Runs a function in the active context without its span. */
export function withoutSpan<T>(run: () => T): T {
  const manager = contextManager();
  return manager ? manager.with(manager.active().deleteValue(SPAN), run) : run();
}
