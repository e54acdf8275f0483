export { toPrintable } from '../client/printable.util.js';
