import { types } from 'node:util';

/**
 * Every string and every bytes below an object that a log, an inspector or an error reporter could reach, with its path:
 * hidden properties, symbols, prototypes and the entries of maps and sets included; not what getters return.
 */
export function* stringsBelow(root: object): Generator<[text: string, path: string]> {
  const seen = new Set<unknown>([root, globalThis, process]);
  const waiting: [object, string][] = [[root, '']];
  for (const [object, path] of waiting) {
    if (ArrayBuffer.isView(object)) {
      yield [Buffer.from(object.buffer, object.byteOffset, object.byteLength).toString('latin1'), path];
      continue;
    }
    for (const [key, value] of membersOf(object)) {
      const place = `${path}.${typeof key === 'string' || typeof key === 'symbol' ? String(key) : '{}'}`;
      for (const part of [key, value]) {
        if (typeof part === 'string') yield [part, place];
        if ((typeof part !== 'object' && typeof part !== 'function') || part === null || seen.has(part)) continue;
        seen.add(part);
        waiting.push([part, place]);
      }
    }
  }
}

function* membersOf(object: object): Generator<[key: unknown, value: unknown]> {
  if (types.isMap(object)) yield* object;
  if (types.isSet(object)) for (const value of object) yield ['', value];
  yield ['__proto__', Object.getPrototypeOf(object)];
  for (const key of Reflect.ownKeys(object)) yield [key, Object.getOwnPropertyDescriptor(object, key)?.value];
}
