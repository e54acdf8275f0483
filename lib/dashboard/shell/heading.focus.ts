/** Whether a page that was opened is still loaded. */
let isWanted = false;

/** Moves the focus to the heading of the page; to one that is not there yet, once it is. */
export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1');
  isWanted = heading === null;
  heading?.focus();
}

/** Comes with each heading that is rendered. */
export function focusIfWanted(): void {
  if (isWanted) focusHeading();
}
