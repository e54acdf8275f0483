import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

import { openDialogs } from './notice.state.js';
import { Notices } from './notices.component.js';

export interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** An answer is pending: the Escape key does not close the dialog. */
  isBusy?: boolean;
  /** Hides all that is behind it. */
  isOpaque?: boolean;
  /** Also called for the Escape key. */
  onClose: () => void;
}

/** A modal dialog, open as long as it is rendered. Afterwards, the focus returns to where it was. */
export function Dialog({ title, children, isBusy = false, isOpaque = false, onClose }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current!;
    const before = document.activeElement;
    element.showModal();
    openDialogs.value++;
    return () => {
      openDialogs.value--;
      element.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isOpaque ? 'opaque' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault(); // `onClose` decides
        if (!isBusy) onClose();
      }}
      onClose={({ currentTarget }) => {
        if (currentTarget.isConnected) currentTarget.showModal(); // pressing Escape twice closes it regardless
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
      <Notices inDialog />
    </dialog>
  );
}
