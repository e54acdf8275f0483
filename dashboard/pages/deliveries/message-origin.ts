/** Where a message was recorded, according to its body. */
export interface MessageOrigin {
  /** Time by the sender's clock, in ms since the epoch. */
  recordedAt?: number | undefined;
  /** Path of the page, or of the request being served. */
  path?: unknown;
  /** Name and version of the sender's library. */
  library?: string | undefined;
}

/** Reads `timestamp` and `context` of a body. Accepts any values, because the sender sets them. */
export function originOf(body: string): MessageOrigin {
  const { timestamp, context } = parse(body) as { timestamp?: unknown; context?: unknown };
  const recordedAt = typeof timestamp === 'string' ? Date.parse(timestamp) : NaN;
  const { page, library } = Object(context) as { page?: unknown; library?: unknown };
  const { name, version } = Object(library) as { name?: unknown; version?: unknown };
  return {
    recordedAt: Number.isNaN(recordedAt) ? undefined : recordedAt,
    path: (Object(page) as { path?: unknown }).path,
    library: [name, version].filter((part) => typeof part === 'string').join(' ') || undefined,
  };
}

function parse(body: string): object {
  try {
    return Object(JSON.parse(body)) as object;
  } catch {
    return {};
  }
}
