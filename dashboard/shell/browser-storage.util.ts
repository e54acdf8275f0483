/** Storage that all tabs share, or of this tab alone. */
type Kind = 'localStorage' | 'sessionStorage';

/** Returns a stored text; null if there is none, undefined if the browser refuses access to its storage. */
export function readStored(key: string, kind: Kind = 'localStorage'): string | null | undefined {
  try {
    return window[kind].getItem(key);
  } catch {
    return undefined;
  }
}

/** Stores a text, or removes it; does nothing if the browser refuses access. */
export function store(key: string, text: string | undefined, kind: Kind = 'localStorage'): void {
  try {
    if (text === undefined) window[kind].removeItem(key);
    else window[kind].setItem(key, text);
  } catch {
    // Without storage, the theme lasts until the page is closed, and the next load asks the relay for the session.
  }
}
