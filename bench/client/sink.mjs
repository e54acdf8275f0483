// A collection service in a process of its own, which counts every message id exactly once.
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

const ids = new Set();
let messages = 0;
let requests = 0;
let connections = 0;

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const raw = Buffer.concat(chunks);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
    for (const message of JSON.parse(body).batch) {
      messages++;
      ids.add(message.messageId ?? message.uuid);
    }
    requests++;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"success":true}');
  });
});

server.on('connection', () => connections++);
server.keepAliveTimeout = 60_000; // None of the clients should meet a closing connection.
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
process.on('message', () => {
  process.send({ messages, unique: ids.size, requests, connections });
  ids.clear();
  messages = requests = connections = 0;
});
process.on('disconnect', () => process.exit());
