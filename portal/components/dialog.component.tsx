import { Modal, type ModalProps } from '../../dashboard/components/modal.component.js';
import { placeInFrame } from '../shell/frame.js';

export type DialogProps = Omit<ModalProps, 'onShown'>;

/** A modal dialog of the portal. */
export function Dialog(props: DialogProps) {
  return <Modal {...props} onShown={placeInFrame} />;
}
