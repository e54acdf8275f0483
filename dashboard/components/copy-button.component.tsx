import { notify } from './notice.state.js';
import { Button } from './button.component.js';

export interface CopyButtonProps {
  text: string | (() => string);
  /** Name of the text, such as "Body". */
  what: string;
  /** Text on the button. */
  children?: string;
}

export function CopyButton({ text, what, children }: CopyButtonProps) {
  const copy = async () => {
    const copied = typeof text === 'string' ? text : text();
    const isCopied = await writeToClipboard(copied).catch(() => copyBySelection(copied));
    if (isCopied) notify(`${what} copied.`);
    else notify(`${what} could not be copied. Select the text and copy it.`, 'failed');
  };
  return (
    <Button look="quiet" label={children ? undefined : `Copy ${what.toLowerCase()}`} onClick={() => void copy()}>
      {children ?? 'Copy'}
    </Button>
  );
}

/** Fails without TLS, because the browser then has no clipboard. */
async function writeToClipboard(text: string): Promise<boolean> {
  await navigator.clipboard.writeText(text);
  return true;
}

/** Returns whether the browser copied the text. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  const before = document.activeElement;
  (document.querySelector('dialog:modal') ?? document.body).append(field); // nothing outside a modal can be selected
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
