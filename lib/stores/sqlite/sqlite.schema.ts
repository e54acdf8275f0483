import { LOG_TABLE } from './log.table.js';
import { UNREADABLE } from '../../webhook-destination/queue/dead-reasons.js';

/** Marks the file as a queue of this package, in its `application_id`: "NARQ". */
export const APPLICATION_ID = 0x4e415251;

/** Version of the layout, stored in the file's `user_version`. */
export const LAYOUT = 1;

/** What a record takes in the file besides its body and ids, in bytes: its attempt, the rows, and their indexes. */
export const RECORD_BYTES = 200;

/** SQL that adds to the counts of deliveries. */
const add = (select: string) => `INSERT INTO counted (destination, state, count, bytes) ${select}
    ON CONFLICT DO UPDATE SET count = count + excluded.count, bytes = bytes + excluded.bytes;`;

/** SQL that counts a row of `delivery` in, or out. */
const addRow = (row: 'new' | 'old', sign: '' | '-') =>
  add(
    `SELECT ${row}.destination, ${row}.state, ${sign}1,
      ${sign}iif(${row}.state = 'delivered', ${row}.bytes + ${RECORD_BYTES}, 0) WHERE true`,
  );

/** SQL that counts deliveries of a batch as ended, which were open. */
const addEnded = (batch: string, delivered: string, gone: string) =>
  add(`SELECT destination, state, -(${delivered} + ${gone}), 0 FROM batch WHERE id = ${batch}`) +
  add(`SELECT destination, 'delivered', ${delivered}, (${delivered}) * record_bytes FROM batch WHERE id = ${batch}`);

/** Number of deliveries of a batch with an outcome. */
const ENDED = '(SELECT ifnull(sum(delivered + gone), 0) FROM outcome WHERE batch = old.id)';

/**
 * Triggers that keep `counted`, so that neither counting nor a sweep reads the records. A batch that is removed takes
 * its outcome out of the counts; the row of the outcome goes afterwards.
 */
const COUNTING = `
  CREATE TRIGGER batch_added AFTER INSERT ON batch BEGIN
    ${add('SELECT new.destination, new.state, new.size, 0 WHERE true')}
  END;
  CREATE TRIGGER batch_changed AFTER UPDATE OF state, size ON batch
  WHEN old.state <> new.state OR old.size <> new.size BEGIN
    ${add(`SELECT old.destination, old.state, ${ENDED} - old.size, 0 WHERE true`)}
    ${add(`SELECT new.destination, new.state, new.size - ${ENDED}, 0 WHERE true`)}
  END;
  CREATE TRIGGER batch_removed AFTER DELETE ON batch BEGIN
    ${add(`SELECT old.destination, old.state, ${ENDED} - old.size, 0 WHERE true`)}
    ${add(
      `SELECT old.destination, 'delivered', -delivered, -delivered * old.record_bytes FROM outcome WHERE batch = old.id`,
    )}
  END;
  CREATE TRIGGER outcome_added AFTER INSERT ON outcome BEGIN
    ${addEnded('new.batch', 'new.delivered', 'new.gone')}
  END;
  CREATE TRIGGER outcome_changed AFTER UPDATE OF delivered, gone ON outcome BEGIN
    ${addEnded('new.batch', 'new.delivered - old.delivered', 'new.gone - old.gone')}
  END;
  CREATE TRIGGER outcome_removed AFTER DELETE ON outcome BEGIN
    ${addEnded('old.batch', '-old.delivered', '-old.gone')}
  END;
  CREATE TRIGGER delivery_added AFTER INSERT ON delivery BEGIN
    ${addRow('new', '')}
  END;
  CREATE TRIGGER delivery_changed AFTER UPDATE OF state ON delivery WHEN old.state <> new.state BEGIN
    ${addRow('old', '-')}
    ${addRow('new', '')}
  END;
  CREATE TRIGGER delivery_removed AFTER DELETE ON delivery BEGIN
    ${addRow('old', '-')}
  END;`;

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
 * - `search_key` has the keys of values that deliveries are searched by: `SearchedFields`.
 * - `batch.record_bytes` is what each record of its deliveries takes in the file.
 * - `counted` has the number of rows of `delivery` by their state, and of other deliveries of batches by `batch.state`
 *   or as delivered; `bytes` is the size of the records of delivered ones.
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
    record_bytes INTEGER NOT NULL,
    items TEXT NOT NULL,
    bodies BLOB NOT NULL
  ) STRICT;
  CREATE INDEX batch_state ON batch (destination, state, id, size);
  CREATE TABLE accepted (
    last_batch INTEGER PRIMARY KEY,
    accepted_at INTEGER NOT NULL,
    batches TEXT NOT NULL
  ) STRICT;
  CREATE TABLE search_key (
    delivery INTEGER NOT NULL,
    key INTEGER NOT NULL,
    PRIMARY KEY (delivery, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX search_key_value ON search_key (key, delivery);
  CREATE TABLE outcome (
    batch INTEGER PRIMARY KEY,
    destination TEXT NOT NULL,
    open INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    entries TEXT NOT NULL
  ) STRICT;
  CREATE INDEX outcome_ended ON outcome (destination, ended_at, batch) WHERE open = 0 AND delivered > 0;
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
  CREATE INDEX delivery_state ON delivery (state, id);
  CREATE INDEX delivery_destination ON delivery (state, destination, id);
  CREATE INDEX delivery_ended ON delivery (state, destination, ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX delivery_reason ON delivery (destination, reason) WHERE reason IS NOT NULL;
  CREATE INDEX delivery_unreadable ON delivery (id) WHERE reason = '${UNREADABLE}';
  CREATE TABLE counted (
    destination TEXT NOT NULL,
    state TEXT NOT NULL,
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (destination, state)
  ) STRICT, WITHOUT ROWID;
  ${COUNTING}
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
