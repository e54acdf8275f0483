/** Returns a function that removes the listeners that these events of the process have got since. */
export function watchListeners(...events: string[]): () => void {
  const before = new Set(events.flatMap((event) => process.rawListeners(event)));
  return () => {
    for (const event of events) {
      for (const listener of process.rawListeners(event)) {
        if (!before.has(listener)) process.removeListener(event, listener as () => void);
      }
    }
  };
}
