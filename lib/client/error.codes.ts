// Every error code of the package, one a line, with the text of its row in docs/errors.md: npm run docs:tables.

/** Codes of errors that calls throw, with the status of the admin API's answer if the call is made through it. */
const callErrors = {
  options_invalid: 400, // `OptionsError`: options of a module, a queue, a decorator, an entry or the command line. Correct them: `faults` has a line for each. It is a `ValidationError` too
  argument_invalid: 400, // `ArgumentError`: an argument of `WebhookDestinationService`, of a test helper, of `AnalyticsContext.run()` or `set()`, or of `backup` of the command line. Correct the one that the message names
  source_unknown: 404, // methods of `service.sources` and `service.requestDeletion()`. Correct the name; `sources` of a deletion must be existing names (otherwise `400`), or left out
  destination_unknown: 404, // methods of `service.destinations`. Correct the name
  source_exists: 409, // `create` of `service.sources`. Choose another name, or `update` what has it
  destination_exists: 409, // `create` of `service.destinations`. Choose another name, or `update` what has it
  registry_read_only: 409, // methods that change an entry of the module's options, or without `registry: 'store'`. Change it where it is declared
  registry_conflict: 409, // methods that change an entry, if others keep changing it. Retry
  registry_unreadable: 409, // methods that change an entry which cannot be decrypted. Set `registrySecret` to the secret it is encrypted with, or to a list that contains it
  not_delivering: 409, // `service.destinations.test()` with `mode: 'ingest'`, or before the start has ended. Call it in a process that delivers
  too_many_searches: 429, // `service.search()`, if the searches before it take longer than 3 s: a process runs one search at a time. Retry
  queue_unavailable: 503, // `QueueUnavailableError`: the queue, at start and while it runs, and its backup. Retry later; at start, correct what the message names, such as a path or a store that cannot be reached
  queue_full: 503, // `QueueFullError`: the queue is at its limit (`maxBytes`). Retry later. It is a `QueueUnavailableError` too. As the reason of a failed event, a `RelayError`: the client holds `maxQueueSize` events
  closed: 503, // `ClosedError`: the application, queue or connection has closed. There is nothing to do: the application is shutting down
};

/** Codes of the other errors that calls throw: the admin API does not answer them. */
type OtherCallError =
  | 'partly_accepted' // `PartlyAcceptedError`: the queue failed after `service.accept()` had stored a part of the messages. Call it again with the same messages: those with a `messageId` are not stored twice. `accepted` is the number that is certainly stored. It is a `QueueUnavailableError` too
  | 'transaction_invalid' // `TransactionError`: the [transaction](transactions.md) of `inTransaction()` or `accept()` cannot be used. Pass what the message names. A failure after which the transaction is to be repeated has the code of PostgreSQL instead, such as `40001`
  | 'address_not_allowed' // `AddressNotAllowedError`: the [network policy](network.md#network-policy) refuses the address. Set `delivery.allowedNetworks`, if the address is intended
  | 'package_missing' // `PackageError`: the start needs an optional package. Install what the message names
  | 'package_unsupported' // `PackageError`: the start needs another version of a package. Install what the message names
  | 'registry_unavailable' // the start, if `load()` of the application's registry rejects. Correct what the message names; `cause` is its error
  | 'consumer_exists' // `consume()` of a queue. Consume a destination once at a time: first unsubscribe from the other Observable
  | 'path_not_allowed' // `ctx.updateEvent()` in a plugin. Correct the path: it must not contain `__proto__`, `constructor` or `prototype`
  | 'wait_timeout'; // `waitFor()` of [`AnalyticsRecorder`](testing.md#the-recorder). Compare with what was recorded, which the message lists

/** Codes of messages that break a rule; ingest answers them with 400. */
type MessageError =
  | 'no_user_anon_id' // neither `userId` nor `anonymousId` is given
  | `${'user_id' | 'anonymous_id' | 'group_id' | 'previous_id' | 'message_id'}_not_string` // the id is not a string; a `groupId` or `previousId`, and `userId` of an alias, must not be empty
  | `${'event' | 'name' | 'category'}_not_string` // the field is not a string; `event` must not be empty
  | 'message_id_too_long' // `messageId` is too long
  | 'timestamp_invalid' // `timestamp` is neither a valid date nor ISO 8601
  | `${'message' | 'properties' | 'traits' | 'context' | 'integrations'}_not_object` // the message, or its field, is not an object; in a posted batch, also the `context` or `integrations` of all messages
  | 'type_unknown' // `type` is not a type of message
  | 'message_too_large' // the message is too large. A recorded one fails with a `RelayError`
  | 'message_too_deep' // the message is nested too deeply
  | 'message_not_json' // the message has `NaN`, `Infinity`, a BigInt or code that throws, which JSON cannot represent
  | 'message_unreadable' // recorded, not posted: JSON cannot represent `field`: a BigInt, a promise, a circular reference, or an accessor or `toJSON` that threw (`cause`)
  | 'message_rejected' // beyond the first 100 refused events of a batch, of which the relay explains no more
  | 'event_not_tracked_event' // `trackEvent()` of an object whose class has no `@TrackedEvent()`
  | 'tracking_plan_violation'; // the event breaks the [tracking plan](typed-events.md). Correct the properties that the message names

/** Codes of the client's errors: the reasons of failed events. */
type ClientError =
  | 'http_status' // the last response was not 2xx or 3xx, or a redirect to another origin; the message is `[503] ...`, with the reason and the code that a relay answers
  | 'request_timeout' // no response within `httpRequestTimeout`
  | 'http_client_failed' // the `httpClient` rejected without an error
  | 'flush_timeout' // the timeout of `flush` or `closeAndFlush` expired
  | 'call_after_close' // recorded after `closeAndFlush`, or after the application has shut down
  | 'event_cancelled' // `beforeSend` returned no event, or a plugin called `ctx.cancel()` without an error
  | 'before_send_invalid' // `beforeSend` returned neither an event nor `null` or `undefined`
  | 'proxy_failed' // the proxy of the environment could not connect
  | 'plugin_timeout' // a plugin took longer than `httpRequestTimeout`
  | 'plugin_result_invalid'; // a plugin returned no context

/** Codes that ingest answers. Those of bodies are answered by the admin API, too. */
const ingestErrors = {
  write_key_unknown: 401, // no source has the write key, or the request has none; `404` for settings. Use the `writeKey` of one of `sources`. In process, and from `service.accept()`, an `UnknownWriteKeyError`
  rate_limited: 429, // past a [limit](ingest.md#limits), or too many wrong write keys or admin tokens. Wait for `Retry-After`
  body_too_large: 413, // the body is too large after decompression
  body_timeout: 503, // the body arrived too slowly. Send it again
  body_incomplete: 400, // the connection closed before the end of the body
  body_not_gzip: 400, // the body begins like gzip, and is not valid gzip
  body_not_utf8: 400, // the body is not UTF-8
  body_not_json: 400, // the body is not JSON
  body_not_object: 400, // the body is not an object
  encoding_unknown: 400, // `Content-Encoding` is neither `gzip` nor absent
  batch_not_array: 400, // `batch` is not an array
  batch_too_long: 400, // `batch` has too many messages
  context_too_deep: 400, // the `context` of all messages of a batch is nested too deeply
  context_too_large: 400, // the `context` of all messages of a batch is too large, alone or multiplied by their number
  integrations_too_deep: 400, // the `integrations` of all messages of a batch are nested too deeply
  integrations_too_large: 400, // the `integrations` of all messages of a batch are too large
};

/** Codes that only the admin API, the dashboard and the portal answer. */
const adminErrors = {
  too_many_in_progress: 429, // the caller, or all callers together, have too many requests or unread answers [in progress](admin-api.md#limits). Wait for `Retry-After`
  answer_too_large: 400, // the answer would exceed 8 MB. Ask for less, such as with a smaller `limit`
  query_invalid: 400, // a field of the query is unknown, empty, given twice or breaks a rule
  path_invalid: 400, // the path is not percent-encoded UTF-8
  field_unknown: 400, // the body has a field that the request does not have
  expected_invalid: 400, // `expected` of a replay or resubmission is not a whole number, or too large
  rate_invalid: 400, // `rate` of a replay is not a whole number from 1 to 10,000
  state_invalid: 400, // `state` of a replay is not `waiting`, `delivered` or `dead`
  too_many_users: 400, // a deletion names too many users
  base_invalid: 400, // `base` of a sign-in is not a path that ends in `/relay`
  token_not_string: 400, // `token` of a sign-in is missing
  admin_token_wrong: 401, // the caller is unknown: no token or session, or a wrong one
  admin_only: 403, // the guard does not admit the caller, or admitted a request without a user; an exception of the guard has its own status, any other error 500
  portal_token_wrong: 401, // the portal's API: no [token](portal.md#links), a forged one, or one of another secret. Open the portal by a new link
  portal_token_expired: 401, // the portal's API: the link has expired. Open the portal by a new link
  portal_token_revoked: 401, // the portal's API: `service.portal.revoke()` has ended the link. Open the portal by a new link
  read_only: 403, // the caller may only read
  cross_site: 403, // a page of another origin sent the request, or the cookie of a session came without a sign of its own page
  route_unknown: 404, // the API has no such route
  activity_unknown: 404, // the activity has no entry with this id
  delivery_unknown: 404, // the queue has no delivery with this id
  endpoint_unknown: 404, // the portal's API: the tenant has no endpoint or delivery with this id
  refusal_unknown: 404, // the source has no refused message with this id
  replay_unknown: 404, // no process that shares the queue has a replay of this id
  sign_in_unknown: 404, // sign-in is up to the application's guard
  file_unknown: 404, // the dashboard has no such file
  method_unknown: 405, // the route has no such method
  endpoint_limit: 409, // the portal's API: the tenant has as many endpoints as `portal.limits` allows. Remove one
  tenant_without_source: 409, // the portal's API: no source has the tenant in its `metadata`, so an endpoint would receive nothing. Set it: see [which events a tenant gets](portal.md#which-events-a-tenant-gets)
  delivery_not_replayed: 409, // the delivery is queued or being delivered, or not in the `state` that the request has
  expected_differs: 409, // another number of deliveries or refused messages matches than `expected`; nothing was replayed or resubmitted
  content_type_not_json: 415, // `Content-Type` is not `application/json`
  failed: 500, // the request failed; the application's log has the reason
  starting: 503, // the application is still starting. Retry
  deletion_failed: 503, // the deletion may be incomplete; the log has the reason. Send the request again
  too_many_streams: 503, // too many [live streams](admin-api.md#live-events) are open. Wait for `Retry-After`
};

/** Codes that reach no caller: the message becomes a reason, an answer, or a line of a log or of the command line. */
type CommandError = 'event_file_not_loaded' | 'event_repeated' | 'interrupted' | 'no_events';
type TransportError = 'connection_reset' | 'response_too_long' | 'transport_failed' | 'webhook_timeout';
type InternalError = 'request_aborted' | 'request_declined' | 'timeout' | 'too_many_requests';

const answered = { ...callErrors, ...ingestErrors, ...adminErrors };

/** The code of an error of this package. Other versions of the package may have other codes. */
export type ErrorCode =
  | keyof typeof answered
  | (OtherCallError | MessageError | ClientError)
  | (CommandError | TransportError | InternalError);

/** @internal Status of the answer to a request that fails with a code. Other codes of messages are answered with 400. */
export const STATUSES: ReadonlyMap<unknown, number> = new Map(Object.entries(answered));
