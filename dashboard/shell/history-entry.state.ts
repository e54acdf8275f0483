import { readStored, store } from './browser-storage.util.js';

/** What an entry of the browser's history keeps, so Back and a reload show the page as it was. */
interface HistoryEntry {
  /** Vertical scroll position, in CSS pixels. */
  scroll: number;
  /** Number of rows of its list. */
  rows: number;
  /** What the page has loaded. Never stored, because it is data of users. */
  kept?: { key: string; value: unknown; isList: boolean } | undefined;
}

/** Number of entries that are kept. */
const MAX_ENTRIES = 30;

/** Time in which a page is expected to be as high as it was, in ms. */
const RETURN_TIME = 10_000;

/** Storage key of the numbers, for a reload. */
const STORED = `relay-history ${location.pathname}`;

const entries = new Map<number, HistoryEntry>(readEntries());

let current: HistoryEntry;

/** Whether the current entry was shown before. */
let isReturn = false;

/** Whether the page has loaded nothing since the entry is shown again. */
let canRecall = false;

/** Scroll position to return to, once the page is high enough. */
let wantedScroll: number | undefined;

/** Called when the browser shows another entry, before the page is rendered. */
export function enterHistory(): void {
  const { entry: before } = (history.state ?? {}) as { entry?: number };
  const id = before ?? Math.max(0, ...entries.keys()) + 1;
  const known = entries.get(id);
  if (before === undefined) history.replaceState({ ...(history.state as object), entry: id }, '');
  current = known ?? { scroll: window.scrollY, rows: 0 };
  entries.delete(id);
  entries.set(id, current); // as the latest
  if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!);
  isReturn = known !== undefined;
  canRecall = isReturn;
  wantedScroll = known?.scroll;
  requestAnimationFrame(returnToScroll); // until then, the page may be that of the entry before
  const { scroll } = current;
  setTimeout(() => {
    if (wantedScroll === scroll) stopReturn();
  }, RETURN_TIME);
}

/** Whether Back, Forward or a reload shows the current entry again, which is then scrolled to where it was. */
export function isReturned(): boolean {
  return isReturn;
}

/** Keeps what the current entry has loaded. Without a number of rows, it is no list. */
export function keep(key: string, value: unknown, rows?: number): void {
  canRecall = false;
  current.kept = { key, value, isList: rows !== undefined };
  current.rows = rows ?? 0;
}

/** Returns what the current entry had loaded before it was shown again, if it is what the key names. */
export function recall<T>(key: string): T | undefined {
  return canRecall && current.kept?.key === key ? (current.kept.value as T) : undefined;
}

/** Returns how many rows the current entry had before it was shown again. */
export function recallRows(): number {
  return canRecall ? current.rows : 0;
}

/** Forgets what lists have loaded, because something has been changed: they are loaded again, as many rows as before. */
export function forgetLists(): void {
  for (const entry of entries.values()) if (entry.kept?.isList) entry.kept = undefined;
}

function returnToScroll(): void {
  if (wantedScroll === undefined) return;
  window.scrollTo(0, wantedScroll);
  if (Math.abs(window.scrollY - wantedScroll) < 1) stopReturn();
}

function stopReturn(): void {
  wantedScroll = undefined;
}

function readEntries(): [number, HistoryEntry][] {
  try {
    return JSON.parse(readStored(STORED, 'sessionStorage') ?? '[]') as [number, HistoryEntry][];
  } catch {
    return [];
  }
}

history.scrollRestoration = 'manual';
enterHistory();
new ResizeObserver(returnToScroll).observe(document.body);
for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
  window.addEventListener(type, stopReturn, { capture: true, passive: true });
}
window.addEventListener('scroll', () => {
  if (wantedScroll === undefined) current.scroll = Math.round(window.scrollY);
});
window.addEventListener('pagehide', () => {
  const numbers = [...entries].map(([id, { scroll, rows }]) => [id, { scroll, rows }]);
  store(STORED, JSON.stringify(numbers), 'sessionStorage');
});
