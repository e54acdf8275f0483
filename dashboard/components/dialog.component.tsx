import { Modal, type ModalProps } from './modal.component.js';
import { openDialogs } from './notice.state.js';
import { Notices } from './notices.component.js';

export type DialogProps = Omit<ModalProps, 'onShown'>;

/** A modal dialog, which also shows the notices. */
export function Dialog({ children, ...modal }: DialogProps) {
  const countOpen = () => {
    openDialogs.value++;
    return () => void openDialogs.value--;
  };
  return (
    <Modal {...modal} onShown={countOpen}>
      {children}
      <Notices inDialog />
    </Modal>
  );
}
