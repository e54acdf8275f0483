import { LOG_TABLE } from './log.table.js';
import { UNREADABLE } from '../../webhook-destination/queue/dead-reasons.js';

/** Marks the file as a queue of this package, in its `application_id`: "NARQ". */
export const APPLICATION_ID = 0x4e415251;

/** Version of the layout, stored in the file's `user_version`. */
export const LAYOUT = 1;

/**
 * Tables of a new file.
 *
 * Deliveries accepted together are stored together in a row of `batch`, and their outcomes in a row of `outcome`: most
 * messages are delivered at the first attempt, and never get a row of their own. Only a delivery that must wait, is
 * dead, or was returned gets a row of `delivery`. Its body stays in the batch, the only place for bodies.
 *
 * A batch is long, and writing is expensive: it is inserted once, and changed only when it is leased after it waited.
 * - `batch.state` is (q)ueued, (r)eleased when the process that leased it ended, or (l)eased, which ends
 *   when `outcome.open` is 0. It does not change the length of the row.
 * - `batch.items` is `[messageIds, userIds, body lengths in bytes]`, a list each, with null in all lists for a delivery
 *   without a record. If known, `traces`, `recorders` and `releases` follow.
 * - `batch.bodies` is shorter than the sum of these lengths if it is compressed.
 * - `accepted` outlives the batches, for as long as their message ids are remembered; `batches` is a list of
 *   `[batch, destination, source, messageIds]`, up to `last_batch`.
 * - `outcome.entries` is a list of `[position, attempt]` if delivered, or `[position]` if it has a row of its own.
 */
export const SCHEMA = `
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${LAYOUT};
  CREATE TABLE batch (
    id INTEGER PRIMARY KEY,
    destination TEXT NOT NULL,
    source TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('q', 'r', 'l')),
    size INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    items TEXT NOT NULL,
    bodies BLOB NOT NULL
  ) STRICT;
  CREATE INDEX batch_state ON batch (destination, state, id, size);
  CREATE TABLE accepted (
    last_batch INTEGER PRIMARY KEY,
    accepted_at INTEGER NOT NULL,
    batches TEXT NOT NULL
  ) STRICT;
  CREATE TABLE outcome (
    batch INTEGER PRIMARY KEY,
    open INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    entries TEXT NOT NULL
  ) STRICT;
  CREATE TABLE delivery (
    id INTEGER PRIMARY KEY,
    destination TEXT NOT NULL,
    source TEXT NOT NULL,
    message_id TEXT NOT NULL,
    user_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'delivering', 'waiting', 'delivered', 'dead')),
    bytes INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    first_attempt_at INTEGER,
    attempts TEXT NOT NULL,
    failed_urls TEXT NOT NULL,
    reason TEXT,
    ended_at INTEGER
  ) STRICT;
  CREATE INDEX delivery_due ON delivery (destination, due_at, id) WHERE state IN ('queued', 'waiting');
  CREATE INDEX delivery_state ON delivery (state, destination);
  CREATE INDEX delivery_ended ON delivery (state, destination, ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX delivery_reason ON delivery (destination, reason) WHERE reason IS NOT NULL;
  CREATE INDEX delivery_unreadable ON delivery (id) WHERE reason = '${UNREADABLE}';
  CREATE TABLE registry (
    revision INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('source', 'destination', 'session')),
    name TEXT NOT NULL,
    document TEXT
  ) STRICT;
  CREATE UNIQUE INDEX registry_name ON registry (kind, name);
  CREATE TABLE series (
    series TEXT NOT NULL,
    minute INTEGER NOT NULL,
    writer TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (series, minute, writer)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX series_minute ON series (minute);
  ${LOG_TABLE}
`;
