import { isStringMap } from '../../common/value.util.js';

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

/** Returns whether a value is an object of headers that a destination may add to its requests. */
export function areHeaders(value: unknown): boolean {
  if (!isStringMap(value, (name, text) => TOKEN.test(name) && !isReserved(name) && FIELD_VALUE.test(text)))
    return false;
  const names = Object.keys(value).map((name) => name.toLowerCase());
  return new Set(names).size === names.length;
}
