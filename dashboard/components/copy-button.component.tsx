import { Button } from './button.component.js';
import { copyText } from './clipboard.util.js';
import { notify } from './notice.state.js';

export interface CopyButtonProps {
  text: string | (() => string);
  /** Name of the text, such as "Body". */
  what: string;
  /** Text on the button. */
  children?: string;
}

export function CopyButton({ text, what, children }: CopyButtonProps) {
  const copy = async () => {
    if (await copyText(typeof text === 'string' ? text : text())) notify(`${what} copied.`);
    else notify(`${what} could not be copied. Select the text and copy it.`, 'failed');
  };
  return (
    <Button look="quiet" label={children ? undefined : `Copy ${what.toLowerCase()}`} onClick={() => void copy()}>
      {children ?? 'Copy'}
    </Button>
  );
}
