import { effect } from '@preact/signals';

import { isFramed, link } from './link.state.js';

const NAME = 'nestjs-analytics-relay';

/** Space below an open dialog, in CSS pixels. */
const BELOW = 24;

let lastHeight: number | undefined;

/** In an iframe, posts to the embedding page how high the content is, and that the link has ended. */
export function followFrame(): void {
  if (!isFramed) return;
  document.documentElement.dataset.framed = '';
  new ResizeObserver(postHeight).observe(document.body);
  effect(() => {
    if (link.value.token === undefined) post({ type: `${NAME}:ended` });
  });
}

/**
 * Shows a dialog beside what opened it: the middle of a frame that is as high as its content may be out of sight.
 * Returns what to call when it has closed.
 */
export function placeInFrame(dialog: HTMLDialogElement, opener: Element | null): (() => void) | undefined {
  if (!isFramed) return undefined;
  const { top } = (opener ?? document.body).getBoundingClientRect();
  dialog.style.top = `${Math.max(BELOW, window.scrollY + top - BELOW)}px`;
  const observer = new ResizeObserver(postHeight);
  observer.observe(dialog);
  return () => {
    observer.disconnect();
    postHeight();
  };
}

function postHeight(): void {
  const ends = [...document.querySelectorAll('dialog')].map((dialog) => dialog.offsetTop + dialog.offsetHeight + BELOW);
  const height = Math.ceil(Math.max(document.body.offsetHeight, ...ends));
  if (height === lastHeight) return;
  lastHeight = height;
  post({ type: `${NAME}:height`, height });
}

/** To any page: the relay lets only those of the option `embed` show this one, and no message has a secret. */
function post(message: { type: string; height?: number }): void {
  window.parent.postMessage(message, '*');
}
