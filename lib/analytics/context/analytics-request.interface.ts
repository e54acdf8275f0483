/**
 * The request that an event belongs to: the request object of Express or Fastify.
 * Where `AnalyticsContextInterceptor` opened the scope of a gateway or microservice: its client or context.
 * Named here is only what both platforms have; everything else depends on the application.
 */
export interface AnalyticsRequest {
  /** Address of the client, as the platform computes it; behind a trusted proxy, the address that the proxy forwards. */
  ip?: string;
  /** Header fields, by their names in lower case. */
  headers?: Record<string, string | string[] | undefined>;
  /** Path and query as the client sent them. */
  originalUrl?: string;
  /** `http` or `https`, as the platform computes it. */
  protocol?: string;
  /** Host and port that the client asked, as the platform computes them. */
  host?: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- guards and middleware put here what they like: user, session, ...
  [field: string]: any;
}
