/** Product token of every request. */
const USER_AGENT = 'nestjs-analytics-relay/1.0';

/** Writes the requests of one source. */
export interface RequestWriter {
  /** @param attempt The number of earlier attempts. */
  headers(attempt: number): Record<string, string>;
  /** @param events The events as JSON, with commas between them. */
  body(events: string): string;
}

/** A closure, so inspecting or logging the client never shows the write key. */
export function createRequestWriter(writeKey: string): RequestWriter {
  const common = {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
  };
  const tail = `],"writeKey":${JSON.stringify(writeKey)},"sentAt":"`;
  return {
    headers: (attempt) => (attempt > 0 ? { ...common, 'X-Retry-Count': String(attempt) } : { ...common }),
    body: (events) => `{"batch":[${events}${tail}${new Date().toISOString()}"}`,
  };
}
