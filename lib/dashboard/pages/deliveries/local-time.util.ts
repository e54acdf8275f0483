/** Converts an ISO time, or ms since the epoch, to the value of a `datetime-local` input; empty if it is not a time. */
export function toLocalTime(iso: string | undefined): string {
  const date = new Date(/^\d{1,15}$/.test(iso ?? '') ? Number(iso) : (iso ?? ''));
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Converts the value of a `datetime-local` input to an ISO time; empty if it is not a time. */
export function fromLocalTime(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
