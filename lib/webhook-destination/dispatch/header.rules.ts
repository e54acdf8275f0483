const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const OWN = [
  'content-type',
  'user-agent',
  'x-signature',
  'x-signature-previous',
  'x-message-id',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];
const OF_THE_CONNECTION = [
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
];
const RESERVED = new Set([...OWN, ...OF_THE_CONNECTION]);

/** Whether a header is set by the relay or the connection alone. */
export function isReserved(name: string): boolean {
  return RESERVED.has(name.toLowerCase());
}

/** Whether the value is an object of headers that a destination may add to its requests. */
export function areHeaders(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(
      ([name, text]: [string, unknown]) =>
        TOKEN.test(name) && !isReserved(name) && typeof text === 'string' && FIELD_VALUE.test(text),
    )
  );
}
