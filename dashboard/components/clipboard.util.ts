/** Copies a text. Resolves with whether the browser did. */
export function copyText(text: string): Promise<boolean> {
  return writeToClipboard(text).catch(() => copyBySelection(text));
}

/** Fails without TLS and in most iframes, because the browser then has no clipboard. */
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
