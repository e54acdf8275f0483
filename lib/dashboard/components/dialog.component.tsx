import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

export interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** Waits for an answer: the Escape key does not close it. */
  isBusy?: boolean;
  /** Also called for the Escape key. */
  onClose: () => void;
}

/** A dialog over the page, open as long as it is rendered. The focus returns to where it was. */
export function Dialog({ title, children, isBusy = false, onClose }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current!;
    const before = document.activeElement;
    element.showModal();
    return () => {
      element.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault(); // the page decides
        if (!isBusy) onClose();
      }}
      onClose={({ currentTarget }) => {
        if (currentTarget.isConnected) currentTarget.showModal(); // browsers close it when Escape is pressed again
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
