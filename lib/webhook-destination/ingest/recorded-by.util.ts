/** Maximum length of a stored name, in characters. */
const MAX_LENGTH = 200;

/**
 * Returns the method or route that recorded a message, from its `_metadata`.
 *
 * @param json as returned by `PostedMessage.json`
 * @returns undefined if `_metadata` does not name one; most metadata is not parsed
 */
export function recorderIn(json: string | undefined): string | undefined {
  if (json === undefined || !json.includes('"recordedBy":"')) return undefined;
  const { recordedBy } = JSON.parse(Buffer.from(json, 'latin1').toString()) as { recordedBy?: unknown };
  return typeof recordedBy === 'string' && recordedBy !== '' ? recordedBy.slice(0, MAX_LENGTH) : undefined;
}
