/**
 * The request that an event belongs to: the request object of Express or Fastify. In a scope that
 * `AnalyticsContextInterceptor` opened, it is the gateway's client or the microservice's context. Only fields that both
 * platforms have are declared; all others depend on the application.
 */
export interface AnalyticsRequest {
  /** Client address, as the platform computes it; behind a trusted proxy, the address that the proxy forwards. */
  ip?: string;
  /** Headers by lower-case name. */
  headers?: Record<string, string | string[] | undefined>;
  /** Path and query as the client sent them. */
  originalUrl?: string;
  /** `http` or `https`, as the platform computes it. */
  protocol?: string;
  /** Host and port that the client requested, as the platform computes them. */
  host?: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- set by guards and middleware
  [field: string]: any;
}
