import type { HTTPResponse } from './http-client.interface.js';

/** Returns the headers of a response by their lower-case names. */
export function lowerCaseNames(headers: HTTPResponse['headers']): Record<string, string> {
  if (!headers) return {};
  const entries =
    typeof headers.entries === 'function' ? (headers.entries as Headers['entries'])() : Object.entries(headers);
  return Object.fromEntries([...entries].map(([name, value]) => [name.toLowerCase(), String(value)]));
}
