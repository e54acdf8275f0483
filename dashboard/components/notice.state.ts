import { signal } from '@preact/signals';

interface Notice {
  id: number;
  text: string;
  look: 'done' | 'failed';
}

/** Time that a notice is shown, in ms. A notice of a failure stays until it is closed. */
const SHOWN = 6_000;

/** Number of open dialogs: while there are any, all else on the page is inert. */
export const openDialogs = signal(0);

export const notices = signal<Notice[]>([]);

let count = 0;

// A failure belongs to the page where it happened.
window.addEventListener('hashchange', () => (notices.value = notices.value.filter(({ look }) => look === 'done')));

/** Shows a notice at the edge of the page, which screen readers read out. */
export function notify(text: string, look: Notice['look'] = 'done'): void {
  const id = ++count;
  notices.value = [...notices.value.slice(-2), { id, text, look }];
  if (look === 'done') setTimeout(() => closeNotice(id), SHOWN);
}

export function closeNotice(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}
