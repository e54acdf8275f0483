/** Caches the value of each key. Use it for few keys, because it keeps every value. */
export function foundOnce<K, V>(find: (key: K) => V): (key: K) => V {
  const values = new Map<K, V>();
  return (key) => {
    let value = values.get(key);
    if (value === undefined) values.set(key, (value = find(key)));
    return value;
  };
}
