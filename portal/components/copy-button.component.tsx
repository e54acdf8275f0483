import { useEffect, useState } from 'preact/hooks';

import { copyText } from '../../dashboard/components/clipboard.util.js';
import { words } from '../words/words.js';
import { Button } from './button.component.js';

/** Time that the button says what has happened, in ms. */
const SHOWN = 3_000;

/** A button that copies a text, and says so itself. `what` names the text, such as "Body". */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [isCopied, setCopied] = useState<boolean>();
  useEffect(() => {
    if (isCopied === undefined) return;
    const timer = setTimeout(() => setCopied(undefined), SHOWN);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const result = isCopied ? words.actions.copied : words.actions.notCopied;
  return (
    <>
      <Button
        look="quiet"
        label={isCopied === undefined ? words.actions.copyOf(what) : result}
        onClick={() => void copyText(text).then(setCopied)}
      >
        {isCopied === undefined ? words.actions.copy : result}
      </Button>
      <span role="status" class="visually-hidden">
        {isCopied === undefined ? '' : result}
      </span>
    </>
  );
}
