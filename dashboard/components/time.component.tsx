import { signal } from '@preact/signals';

import { None } from './plain-text.component.js';

const AGES: [unit: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

const DAY = { month: 'short', day: 'numeric' } as const;

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;

const LOOKS = {
  full: { ...DAY, ...CLOCK },
  exact: { ...DAY, ...CLOCK, fractionalSecondDigits: 3 },
  hour: { ...DAY, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  time: CLOCK,
  minute: { timeStyle: 'short', hourCycle: 'h23' },
} as const;

type Look = keyof typeof LOOKS;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Formats a time in the browser's time zone. The year is omitted if it is the current one. */
function format(at: number, look: Look): string {
  const isDated = look !== 'time' && look !== 'minute';
  const hasYear = isDated && new Date(at).getFullYear() !== new Date().getFullYear();
  const key = look + String(hasYear);
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(undefined, { ...LOOKS[look], ...(hasYear && { year: 'numeric' }) });
    formats.set(key, found);
  }
  return found.format(at);
}

/**
 * A time in the browser's time zone; its title has the time in UTC.
 *
 * @param at ms since the epoch
 * @param look `'exact'` adds milliseconds, `'hour'` omits the seconds, `'time'` omits the day, `'minute'` both
 */
export function Time({ at, look = 'full' }: { at: number | undefined | null; look?: Look }) {
  const date = new Date(at ?? NaN);
  if (Number.isNaN(date.getTime())) return <None />;
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {format(date.getTime(), look)}
    </time>
  );
}

/** Says in which time zone times are, with its present offset. */
export function toZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' }).formatToParts();
  const offset = parts.find(({ type }) => type === 'timeZoneName')!.value.replace('GMT', 'UTC');
  if (timeZone === 'UTC') return 'Times are in UTC.';
  return `Times are in ${timeZone}, ${offset}. Point at one to see it in UTC.`;
}

/** Returns hours and minutes, in the browser's time zone; with the day, if it is more than half a day away. */
export function toMinute(at: number): string {
  return Math.abs(at - Date.now()) < 43_200_000 ? format(at, 'minute') : format(at, 'full');
}

/** Returns the time of day, in the browser's time zone. */
export function toClock(at: number): string {
  return format(at, 'time');
}

/** Time for which what falls due is not overdue, in ms. */
const DUE_NOW = 5_000;

const now = signal(Date.now());

setInterval(() => document.hidden || (now.value = Date.now()), 5_000);

/**
 * The distance of a time from now, such as `3 min ago` or `in 3 h 59 min`. Updated as time passes.
 *
 * @param at ms since the epoch
 */
export function Ago({ at }: { at: number }) {
  const age = Math.max(now.value, Date.now()) - at;
  const first = AGES.find(([, length]) => Math.abs(age) >= length);
  if (!first) return <span>just now</span>;
  const text =
    age > 0 ? `${Math.floor(age / first[1])} ${first[0]} ago` : `in ${toDuration(Math.ceil(-age / 1_000) * 1_000)}`;
  return <span class="number">{text}</span>;
}

/** When something is due: `due in 20 s`, `due now`, `overdue by 20 s`. */
export function Due({ at }: { at: number }) {
  const late = Math.max(now.value, Date.now()) - at;
  if (late >= DUE_NOW) return <span class="number">overdue by {toDuration(late)}</span>;
  return late > -1_000 ? (
    <span>due now</span>
  ) : (
    <>
      due <Ago at={at} />
    </>
  );
}

/** A time, and below it its distance from now. */
export function TimeAndAge({ at }: { at: number }) {
  return (
    <>
      <Time at={at} />
      <div class="second-line">
        <Ago at={at} />
      </div>
    </>
  );
}

/** Returns a duration in ms as text with units: `85 ms`, `1.2 s`, `3 h 5 min`. */
export function toDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  const first = AGES.findIndex(([, length]) => ms >= length);
  const [unit, length] = AGES[first]!;
  const next = AGES[first + 1];
  const rest = next ? Math.floor((ms % length) / next[1]) : 0;
  return `${Math.floor(ms / length)} ${unit}${next && rest > 0 ? ` ${rest} ${next[0]}` : ''}`;
}

export function Duration({ ms }: { ms: number | undefined | null }) {
  return typeof ms === 'number' ? <span class="number">{toDuration(ms)}</span> : <None />;
}
