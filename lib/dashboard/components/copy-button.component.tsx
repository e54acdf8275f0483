import { notify } from './notice.state.js';
import { Button } from './button.component.js';

export interface CopyButtonProps {
  text: string | (() => string);
  /** Name of the text: "Body". */
  what: string;
  /** Stands on the button. */
  children?: string;
}

/** Copies a text. */
export function CopyButton({ text, what, children }: CopyButtonProps) {
  const copy = async () => {
    const copied = typeof text === 'string' ? text : text();
    try {
      await navigator.clipboard.writeText(copied);
    } catch {
      copyBySelection(copied); // without TLS there is no clipboard
    }
    notify(`${what} copied.`);
  };
  return (
    <Button look="quiet" label={children ? undefined : `Copy ${what.toLowerCase()}`} onClick={() => void copy()}>
      {children ?? 'Copy'}
    </Button>
  );
}

function copyBySelection(text: string): void {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
