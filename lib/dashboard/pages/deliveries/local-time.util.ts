/** An ISO time as an input of the type `datetime-local` has it; empty for what is no time. */
export function toLocalTime(iso: string | undefined): string {
  const date = new Date(/^\d{1,15}$/.test(iso ?? '') ? Number(iso) : (iso ?? ''));
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** The ISO time of such an input's value; empty for none. */
export function fromLocalTime(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
