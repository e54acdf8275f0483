/** Calls routes of the admin API for the tools, in this process or over HTTP. Paths are below `/relay/api`. */
export interface ApiCaller {
  /** Resolves with the answer; rejects with its message. */
  get(path: string, query?: Record<string, unknown>): Promise<unknown>;
  /** As {@link get}. */
  post(path: string, body: unknown): Promise<unknown>;
}

/** Returns the path with a query of the values that are defined. */
export function toTarget(path: string, query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
