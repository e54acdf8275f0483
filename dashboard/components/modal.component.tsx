import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

export interface ModalProps {
  title: string;
  children: ComponentChildren;
  /** An answer is pending: the Escape key does not close the dialog. */
  isBusy?: boolean;
  /** Hides all that is behind it. */
  isOpaque?: boolean;
  /** Also called for the Escape key. */
  onClose: () => void;
  /** Called once the dialog is shown; the returned function, when it has closed. */
  onShown?: (dialog: HTMLDialogElement, before: Element | null) => (() => void) | undefined;
}

/** A modal dialog, open as long as it is rendered. Afterwards, the focus returns to where it was. */
export function Modal({ title, children, isBusy = false, isOpaque = false, onClose, onShown }: ModalProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current!;
    const before = document.activeElement;
    element.showModal();
    // Not a link before it: the Enter key would leave the page.
    element.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
    const onClosed = onShown?.(element, before);
    return () => {
      element.close();
      onClosed?.();
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
    </dialog>
  );
}
