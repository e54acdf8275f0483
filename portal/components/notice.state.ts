import { signal } from '@preact/signals';

/** What the last change did; empty without one. */
export const notice = signal('');

/** Whether the page that shows the notice has yet to open. */
let isForNext = false;

/** Says at the top of the page what a change did, until another page is opened. */
export function notify(text: string): void {
  notice.value = text;
}

/** Says it on the page that opens next. */
export function notifyNext(text: string): void {
  isForNext = true;
  notice.value = text;
}

/** Called when another page has opened. */
export function clearNotice(): void {
  if (!isForNext) notice.value = '';
  isForNext = false;
}
