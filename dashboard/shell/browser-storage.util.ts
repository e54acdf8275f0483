/** Returns a stored text; null if there is none, undefined if the browser refuses access to its storage. */
export function readStored(key: string): string | null | undefined {
  try {
    return localStorage.getItem(key);
  } catch {
    return undefined;
  }
}

/** Stores a text, or removes it; does nothing if the browser refuses access. */
export function store(key: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // Without storage, the theme lasts until the page is closed, and the next load asks the relay for the session.
  }
}
