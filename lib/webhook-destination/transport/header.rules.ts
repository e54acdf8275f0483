const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const OF_THE_RELAY =
  /^(content-type|user-agent|x-signature(-previous)?|x-message-id|webhook-(id|timestamp|signature)|trace(parent|state))$/i;

const OF_THE_CONNECTION =
  /^(host|content-length|transfer-encoding|(proxy-)?connection|keep-alive|upgrade|expect|te|trailer)$/i;

/** Returns whether only the relay or the connection may set a header. */
export function isReserved(name: string): boolean {
  return OF_THE_RELAY.test(name) || OF_THE_CONNECTION.test(name);
}

/** Returns the rules of headers that a destination adds to its requests that a value breaks, with the names at fault. */
export function findBrokenHeaderRules(value: unknown): string[] {
  const rule = 'map header names to strings without line breaks';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [rule];
  const names = Object.keys(value);
  if (!names.every((name) => TOKEN.test(name))) return [rule];
  const wrong = names.filter((name) => !isFieldValue((value as Record<string, unknown>)[name]));
  const reserved = names.filter(isReserved);
  const lowerCase = names.map((name) => name.toLowerCase());
  const repeated = names.filter((_name, index) => lowerCase.indexOf(lowerCase[index]!) !== index);
  return [
    ...(wrong.length > 0 ? [`${rule}; another value is that of ${wrong.join(', ')}`] : []),
    ...(repeated.length > 0 ? [`not contain a name twice in different case: ${repeated.join(', ')}`] : []),
    ...(reserved.length > 0
      ? [`not include headers that the relay or the connection sets itself: ${reserved.join(', ')}`]
      : []),
  ];
}

function isFieldValue(value: unknown): boolean {
  return typeof value === 'string' && FIELD_VALUE.test(value);
}
