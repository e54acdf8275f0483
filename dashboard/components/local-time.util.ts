const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)(?:Z|([+-]\d\d):?(\d\d)?)?)?$/i;

/** Parses a time as the API does: ms since the epoch, or ISO 8601, as UTC if it has no zone. NaN if it is not a time. */
export function parseTime(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const [, day, time = '00:00', hours, minutes = '00'] = ISO_TIME.exec(text) ?? [];
  if (day === undefined || new Date(`${day}T00:00Z`).toJSON()?.slice(0, 10) !== day) return NaN; // as 31 February
  return Date.parse(`${day}T${time.replace(',', '.')}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
}

/** Converts a time of a filter to the value of a `datetime-local` input; empty if it is not a time. */
export function toLocalTime(text = ''): string {
  const date = new Date(parseTime(text));
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Converts the value of a `datetime-local` input to an ISO time; empty if it is not a time. */
export function fromLocalTime(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
