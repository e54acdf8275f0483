/** Holds the found values: a `Map` keeps each of them, a `WeakMap` as long as its key. */
interface FoundValues<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
  delete(key: K): unknown;
}

/** Caches the value of each key, until `forget` is called with it. Use it for few keys, or with a `WeakMap`. */
export function foundOnce<K, V>(find: (key: K) => V, values: FoundValues<K, V> = new Map<K, V>()) {
  const get = (key: K): V => {
    let value = values.get(key);
    if (value === undefined) values.set(key, (value = find(key)));
    return value;
  };
  return Object.assign(get, { forget: (key: K) => void values.delete(key) });
}
