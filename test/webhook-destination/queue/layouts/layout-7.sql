PRAGMA application_id = 1312903761;
PRAGMA user_version = 7;
CREATE TABLE batch (
    id INTEGER PRIMARY KEY,
    destination TEXT NOT NULL,
    source TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('q', 'r', 'l')),
    size INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    leased_at INTEGER NOT NULL,
    items TEXT NOT NULL,
    bodies BLOB NOT NULL
  ) STRICT;
INSERT INTO batch VALUES (1, 'Webhooks', 'shop', 'l', 2, 1700000000000, 1700000000000, '[["settled","closed"],["u1","u1"],[60,59]]', X'7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A22736574746C6564222C22757365724964223A227531227D7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A22636C6F736564222C22757365724964223A227531227D');
INSERT INTO batch VALUES (2, 'Other', 'shop', 'r', 1, 1700000000000, 1795408330803, '[["released"],["u1"],[61]]', X'7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A2272656C6561736564222C22757365724964223A227531227D');
INSERT INTO batch VALUES (3, 'Other', 'shop', 'q', 2, 1700000000000, 1700000000000, '[["kept","stored"],["u1","u1"],[57,59]]', X'7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A226B657074222C22757365724964223A227531227D7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A2273746F726564222C22757365724964223A227531227D');
INSERT INTO batch VALUES (4, 'Webhooks', 'shop', 'l', 6, 1700000000000, 1795408336071, '[["first","dead","waiting","late","again","leased"],["u1","u1","u1","u1","u1","u1"],[58,57,60,57,58,59]]', X'7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A226669727374222C22757365724964223A227531227D7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A2264656164222C22757365724964223A227531227D7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A2277616974696E67222C22757365724964223A227531227D7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A226C617465222C22757365724964223A227531227D7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A22616761696E222C22757365724964223A227531227D7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A226C6561736564222C22757365724964223A227531227D');
INSERT INTO batch VALUES (5, 'Webhooks', 'shop', 'l', 2, 1700000000000, 1795408338391, '[["second","third"],["u1","u1"],[59,58]]', X'7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A227365636F6E64222C22757365724964223A227531227D7B2276657273696F6E223A312C2274797065223A22747261636B222C226576656E74223A227468697264222C22757365724964223A227531227D');
CREATE TABLE accepted (
    last_batch INTEGER PRIMARY KEY,
    accepted_at INTEGER NOT NULL,
    batches TEXT NOT NULL
  ) STRICT;
INSERT INTO accepted VALUES (1, 1795408329025, '[[1,"Webhooks","shop",["settled","closed"]]]');
INSERT INTO accepted VALUES (2, 1795408330803, '[[2,"Other","shop",["released"]]]');
INSERT INTO accepted VALUES (3, 1795408333642, '[[3,"Other","shop",["kept","stored"]]]');
INSERT INTO accepted VALUES (4, 1795408336070, '[[4,"Webhooks","shop",["first","dead","waiting","late","again","leased"]]]');
INSERT INTO accepted VALUES (5, 1795408338389, '[[5,"Webhooks","shop",["second","third"]]]');
CREATE TABLE outcome (
    batch INTEGER PRIMARY KEY,
    open INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    entries TEXT NOT NULL
  ) STRICT;
INSERT INTO outcome VALUES (1, 0, 1795408329033, 2, 0, '[0,{"startedAt":1700000001000,"results":[{"url":"https://shop.example/hook","outcome":"success","status":200,"duration":12}]}],[1,{"startedAt":1700000001000,"results":[{"url":"https://shop.example/hook","outcome":"success","status":200,"duration":12}]}]');
INSERT INTO outcome VALUES (4, 1, 1795408336082, 1, 4, '[0,{"startedAt":1700000001000,"results":[{"url":"https://shop.example/hook","outcome":"success","status":200,"duration":12}]}],[1],[2],[3],[4]');
INSERT INTO outcome VALUES (5, 1, 1795408338401, 1, 0, '[0,{"startedAt":1700000001000,"results":[{"url":"https://shop.example/hook","outcome":"success","status":200,"duration":12}]}]');
CREATE TABLE delivery (
    id INTEGER PRIMARY KEY,
    destination TEXT NOT NULL,
    source TEXT NOT NULL,
    message_id TEXT NOT NULL,
    user_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'delivering', 'waiting', 'delivered', 'dead')),
    accepted_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    first_attempt_at INTEGER,
    attempts TEXT NOT NULL,
    failed_urls TEXT NOT NULL,
    reason TEXT,
    ended_at INTEGER
  , bytes INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO delivery VALUES (16385, 'Webhooks', 'shop', 'dead', 'u1', 'dead', 1700000000000, 1700000000000, 1700000001000, '[{"startedAt":1700000001000,"results":[{"url":"https://shop.example/hook","outcome":"temporary","status":410,"duration":12}]}]', '["https://gone.example/hook"]', 'refused', 1795408336082, 57);
INSERT INTO delivery VALUES (16386, 'Webhooks', 'shop', 'waiting', 'u1', 'waiting', 1700000000000, 4000000000000, 1700000001000, '[{"startedAt":1700000001000,"results":[{"url":"https://shop.example/hook","outcome":"temporary","status":503,"duration":12}]}]', '["https://gone.example/hook"]', NULL, NULL, 60);
INSERT INTO delivery VALUES (16387, 'Webhooks', 'shop', 'late', 'u1', 'delivered', 1700000000000, 1700000000000, 1700000001000, '[{"startedAt":1700000001000,"results":[{"url":"https://shop.example/hook","outcome":"temporary","status":503,"duration":12}]},{"startedAt":1700000001000,"results":[{"url":"https://shop.example/hook","outcome":"success","status":200,"duration":12}]}]', '["https://gone.example/hook"]', NULL, 1795408338391, 57);
INSERT INTO delivery VALUES (16388, 'Webhooks', 'shop', 'again', 'u1', 'delivering', 1700000000000, 1700000000000, 1700000001000, '[{"startedAt":1700000001000,"results":[{"url":"https://shop.example/hook","outcome":"temporary","status":503,"duration":12}]}]', '["https://gone.example/hook"]', NULL, NULL, 58);
CREATE TABLE registry (
    revision INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('source', 'destination')),
    name TEXT NOT NULL,
    document TEXT
  ) STRICT;
INSERT INTO registry VALUES (1795408329023, 'destination', 'Kept', '{"name":"Kept"}');
CREATE TABLE series (
    series TEXT NOT NULL,
    minute INTEGER NOT NULL,
    writer TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (series, minute, writer)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX batch_state ON batch (destination, state, id, size);
CREATE INDEX delivery_due ON delivery (destination, due_at, id) WHERE state IN ('queued', 'waiting');
CREATE INDEX delivery_state ON delivery (state, destination);
CREATE INDEX delivery_ended ON delivery (state, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX delivery_reason ON delivery (destination, reason) WHERE reason IS NOT NULL;
CREATE UNIQUE INDEX registry_name ON registry (kind, name);
CREATE INDEX series_minute ON series (minute);
