export * from './analytics/index.js';
export * from './client/index.js';
export { OptionsError } from './common/options.error.js';
export {
  AddressNotAllowedError,
  ArgumentError,
  ClosedError,
  PackageError,
  QueueUnavailableError,
  UnknownWriteKeyError,
} from './common/relay.errors.js';
export * from './webhook-destination/index.js';
