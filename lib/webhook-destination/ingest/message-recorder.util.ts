/** Longest name that is kept. */
const MAX_LENGTH = 200;

/**
 * What recorded a message, by its `_metadata`.
 *
 * @param json as `PostedMessage.json` has it
 * @returns undefined where nothing is said of it: most are not parsed
 */
export function recorderIn(json: string | undefined): string | undefined {
  if (json === undefined || !json.includes('"recordedBy":"')) return undefined;
  const { recordedBy } = JSON.parse(Buffer.from(json, 'latin1').toString()) as { recordedBy?: unknown };
  return typeof recordedBy === 'string' && recordedBy !== '' ? recordedBy.slice(0, MAX_LENGTH) : undefined;
}
