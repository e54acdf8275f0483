import { useEffect, useRef } from 'preact/hooks';

import { isReturned } from './history-entry.state.js';

/** Whether the heading of an opened page is still awaited, to receive the focus. */
let isWanted = false;

/** Moves the focus to the heading of the page, now or as soon as it is rendered, and scrolls to it unless that is kept. */
export function focusHeading(preventScroll = isReturned()): void {
  const heading = document.querySelector<HTMLElement>('main h1');
  isWanted = heading === null;
  heading?.focus({ preventScroll });
}

/** Called for each heading once it is rendered. */
export function focusIfWanted(): void {
  if (isWanted) focusHeading();
}

/** Focuses the heading when the place changes, so what is shown is read from there. */
export function useFocusOnHeading(place: string | boolean, onChange?: () => void): void {
  const shown = useRef(place);
  useEffect(() => {
    if (shown.current === place) return;
    shown.current = place;
    onChange?.();
    focusHeading();
  }, [place]);
}
