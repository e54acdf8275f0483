/** SQLSTATE of a recording outside a transaction. */
export const NO_TRANSACTION = '25P01';

/** SQLSTATE of a recording in another database than that of the queue. */
export const OTHER_QUEUE = 'RY001';

/**
 * Returns the statement that records deliveries in a transaction. Its parameter is a {@link RecordingCall} as JSON. Its
 * row has the id of the transaction and, as a JSON list, the positions of the deliveries whose message is remembered: a
 * setting, because a role that may only INSERT cannot read columns.
 */
export function recordStatement(schema: string): string {
  const returned = `pg_current_xact_id()::text AS xid, current_setting('nestjs_analytics_relay.repeated') AS repeated`;
  return `INSERT INTO ${schema}.relay_record (call) VALUES ($1) RETURNING ${returned}`;
}

/** The parameter of the statement: one text, because not every ORM passes lists and bytes. */
export interface RecordingCall {
  relay: string;
  accepted_at: number;
  until_ms: number;
  deliveries: {
    /** Undefined if messages are not remembered. */
    key: string | undefined;
    destination: string;
    source: string;
    message_id: string;
    user_id: string | undefined;
    trace: string | undefined;
    recorded_by: string | undefined;
    search_keys: string | undefined;
    release: string | undefined;
    /** In Base64. */
    body: string;
  }[];
}

/**
 * Returns the SQL of a view that stores deliveries when it is inserted into, with the rights of its owner: a role that
 * records needs INSERT on it alone. A constraint trigger refuses an INSERT that its own statement commits: in a
 * transaction, a later statement does. If a transaction has SET CONSTRAINTS ALL IMMEDIATE, the trigger fires within that
 * of the view. Keys are inserted in their order, so that transactions with the same ones wait for each other.
 *
 * @param schema quoted
 */
export const recordingView = (schema: string) => `
  CREATE VIEW ${schema}.relay_record AS SELECT NULL::text AS call WHERE false;
  CREATE FUNCTION ${schema}.relay_record() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path TO pg_catalog, pg_temp AS $$
  DECLARE
    call record;
    given record;
    repeated int[] := '{}';
  BEGIN
    SELECT * INTO call FROM json_to_record(NEW.call::json)
      AS c(relay uuid, accepted_at bigint, until_ms bigint, deliveries json);
    IF NOT EXISTS (SELECT FROM ${schema}.relay_layout WHERE relay_id = call.relay) THEN
      RAISE EXCEPTION 'the queue of the relay is in another database' USING ERRCODE = '${OTHER_QUEUE}';
    END IF;
    PERFORM set_config('nestjs_analytics_relay.statement', statement_timestamp()::text, true);
    FOR given IN
      WITH listed AS MATERIALIZED (
        SELECT nextval('${schema}.relay_delivery_id') AS id, d.*
        FROM ROWS FROM (json_to_recordset(call.deliveries) AS (key uuid, destination text, source text, message_id text,
          user_id text, trace text, recorded_by text, search_keys text, release text, body text)) WITH ORDINALITY
          AS d(key, destination, source, message_id, user_id, trace, recorded_by, search_keys, release, body, place)
      )
      SELECT * FROM listed ORDER BY key
    LOOP
      IF given.key IS NOT NULL THEN
        INSERT INTO ${schema}.relay_seen (key, delivery, until_ms) VALUES (given.key, given.id, call.until_ms)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
          repeated := repeated || (given.place - 1)::int;
          CONTINUE;
        END IF;
      END IF;
      INSERT INTO ${schema}.relay_delivery (id, destination, source, message_id, user_id, trace, recorded_by, search_keys,
        release, body, accepted_at, due_at, state)
      VALUES (given.id, given.destination, given.source, given.message_id, given.user_id, given.trace,
        given.recorded_by, given.search_keys::bigint[], given.release, decode(given.body, 'base64'),
        call.accepted_at, call.accepted_at, 'queued');
    END LOOP;
    PERFORM set_config('nestjs_analytics_relay.repeated', array_to_json(repeated)::text, true);
    RETURN NEW;
  END $$;
  CREATE TRIGGER relay_record INSTEAD OF INSERT ON ${schema}.relay_record
  FOR EACH ROW EXECUTE FUNCTION ${schema}.relay_record();

  CREATE FUNCTION ${schema}.relay_in_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF pg_catalog.pg_trigger_depth() = 1
      AND pg_catalog.statement_timestamp()::text = pg_catalog.current_setting('nestjs_analytics_relay.statement', true)
    THEN
      RAISE EXCEPTION 'not in a transaction' USING ERRCODE = '${NO_TRANSACTION}';
    END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER relay_in_transaction AFTER INSERT ON ${schema}.relay_delivery
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (current_setting('nestjs_analytics_relay.statement', true) <> '')
  EXECUTE FUNCTION ${schema}.relay_in_transaction();
`;
