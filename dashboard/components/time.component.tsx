import { signal } from '@preact/signals';

const AGES: [unit: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

/** `dateStyle` cannot be combined with milliseconds. */
const EXACT = new Intl.DateTimeFormat(undefined, {
  ...{ year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' },
});

const TIME_OF_DAY = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });

const MINUTE = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', hourCycle: 'h23' });

const LOOKS = { full: FORMAT, exact: EXACT, time: TIME_OF_DAY, minute: MINUTE };

/**
 * A time in the browser's time zone; its title has the time in UTC.
 *
 * @param at ms since the epoch
 * @param look `'exact'` adds milliseconds, `'time'` omits the day, `'minute'` also the seconds
 */
export function Time({ at, look = 'full' }: { at: number | undefined | null; look?: keyof typeof LOOKS }) {
  const date = new Date(at ?? NaN);
  if (Number.isNaN(date.getTime())) return <span class="muted">–</span>;
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {LOOKS[look].format(date)}
    </time>
  );
}

/** Returns hours and minutes, in the browser's time zone; with the day, if it is more than half a day away. */
export function toMinute(at: number): string {
  return Math.abs(at - Date.now()) < 43_200_000 ? MINUTE.format(at) : FORMAT.format(at);
}

/** Returns the time of day, in the browser's time zone. */
export function toClock(at: number): string {
  return TIME_OF_DAY.format(at);
}

const now = signal(Date.now());

setInterval(() => document.hidden || (now.value = Date.now()), 5_000);

/**
 * The distance of a time from now, such as `3 min ago` or `in 20 s`. Updated as time passes.
 *
 * @param at ms since the epoch
 */
export function Ago({ at }: { at: number }) {
  const age = Math.max(now.value, Date.now()) - at;
  const first = AGES.find(([, length]) => Math.abs(age) >= length);
  if (!first) return <span>just now</span>;
  const text = `${Math.floor(Math.abs(age) / first[1])} ${first[0]}`;
  return <span class="number">{age > 0 ? `${text} ago` : `in ${text}`}</span>;
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
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const first = AGES.findIndex(([, length]) => ms >= length);
  const [unit, length] = AGES[first]!;
  const next = AGES[first + 1];
  const rest = next ? Math.floor((ms % length) / next[1]) : 0;
  return `${Math.floor(ms / length)} ${unit}${next && rest > 0 ? ` ${rest} ${next[0]}` : ''}`;
}

export function Duration({ ms }: { ms: number | undefined | null }) {
  return typeof ms === 'number' ? <span class="number">{toDuration(ms)}</span> : <span class="muted">–</span>;
}
