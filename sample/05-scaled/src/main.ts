import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('relay.process.js', import.meta.url));
const { PORT = '3000', SECOND_PORT = '3001', RECEIVER_PORT = '3002' } = process.env;
const processes = [
  { RELAY_MODE: 'ingest', PORT },
  { RELAY_MODE: 'ingest', PORT: SECOND_PORT },
  { RELAY_MODE: 'deliver', PORT: '0' },
  { RELAY_MODE: 'deliver', PORT: '0' },
];
let isStopping = false;

/** Starts a process, and another one in its place should it end: here, as a process manager does it in production. */
function start(settings: NodeJS.ProcessEnv): void {
  const child = fork(program, { env: { ...process.env, ...settings } });
  const stop = () => child.kill('SIGTERM');
  process.on('SIGTERM', stop);
  child.once('exit', (code, signal) => {
    process.off('SIGTERM', stop);
    if (isStopping) return;
    console.log(`[main] a process ended with ${signal ?? code}; another one takes its place`);
    setTimeout(() => !isStopping && start(settings), 1_000);
  });
}

// Stands for somebody else's server.
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end());
});
receiver.listen(Number(RECEIVER_PORT), '127.0.0.1');
processes.forEach(start);

console.log(`Try:
  curl -u wk_shop: -H 'Content-Type: application/json' http://127.0.0.1:${PORT}/v1/track \\
    -d '{"userId":"u1","event":"Order Completed"}'
  the same on port ${SECOND_PORT}
  kill -9 <one of the process ids below>, and try again`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isStopping = true;
    receiver.close();
  });
}
