import { signal } from '@preact/signals';

import { locale, words } from '../words/words.js';

const FULL = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });

const MINUTE = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

const RELATIVE = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

const UNITS: [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

/** A time in the browser's time zone; its title has the time in UTC. `at` is in ms since the epoch. */
export function Time({ at }: { at: number | undefined }) {
  if (at === undefined) return <span class="muted">{words.none}</span>;
  const iso = new Date(at).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {FULL.format(at)}
    </time>
  );
}

/** Returns day, hour and minute in the browser's time zone. */
export function toMinute(at: number): string {
  return MINUTE.format(at);
}

const now = signal(Date.now());

let timer: ReturnType<typeof setInterval> | undefined;

/** Returns the distance of a time from now, such as "3 minutes ago". Components that call it are updated. */
export function toAge(at: number): string {
  timer ??= setInterval(() => document.hidden || (now.value = Date.now()), 5_000);
  const distance = at - Math.max(now.value, Date.now());
  const [unit, length] = UNITS.find(([, ms]) => Math.abs(distance) >= ms) ?? UNITS.at(-1)!;
  return RELATIVE.format(Math.trunc(distance / length), unit);
}

/** The distance of a time from now. */
export function Ago({ at }: { at: number }) {
  const iso = new Date(at).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {toAge(at)}
    </time>
  );
}

/** Returns a duration in ms as text with its unit, such as "85 ms". */
export function toDuration(ms: number): string {
  const [value, unit] = ms < 1_000 ? [Math.round(ms), 'millisecond'] : [ms / 1_000, 'second'];
  return new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 }).format(value);
}
