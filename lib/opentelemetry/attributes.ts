// Copied from OpenTelemetry's semantic conventions 1.44, whose package has 9.9 MB.

export { SYSTEM } from '../common/telemetry/attributes.util.js';

export const MESSAGING_SYSTEM = 'messaging.system';
export const OPERATION_NAME = 'messaging.operation.name';
export const OPERATION_TYPE = 'messaging.operation.type';
export const DESTINATION_NAME = 'messaging.destination.name';
export const MESSAGE_ID = 'messaging.message.id';
export const BATCH_COUNT = 'messaging.batch.message_count';
export const ERROR_TYPE = 'error.type';
export const REQUEST_METHOD = 'http.request.method';
export const RESEND_COUNT = 'http.request.resend_count';
export const STATUS_CODE = 'http.response.status_code';
export const SERVER_ADDRESS = 'server.address';
export const SERVER_PORT = 'server.port';
export const URL_FULL = 'url.full';

// Attributes defined by this package.

/** Number of the attempt, from 1. */
export const ATTEMPT = 'analytics_relay.delivery.attempt';
/** Outcome of the delivery: `delivered`, `waiting` or `dead`. */
export const STATE = 'analytics_relay.delivery.state';
/** Name of the message's source. */
export const SOURCE = 'analytics_relay.source';
