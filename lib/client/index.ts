export type * from './message/message.interface.js';
export { ValidationError } from './message/validation.error.js';
