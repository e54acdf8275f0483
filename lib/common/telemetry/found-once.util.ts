/** Makes a value for each key once; for few keys, as it keeps all. */
export function foundOnce<K, V>(find: (key: K) => V): (key: K) => V {
  const values = new Map<K, V>();
  return (key) => {
    let value = values.get(key);
    if (value === undefined) values.set(key, (value = find(key)));
    return value;
  };
}
