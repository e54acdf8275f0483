import { type ChildProcess, fork } from 'node:child_process';
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
const children = new Set<ChildProcess>();
let isStopping = false;

/** Starts a process, and its successor when it ends. In production, a process manager does this. */
function start(settings: NodeJS.ProcessEnv): void {
  const child = fork(program, { env: { ...process.env, ...settings } });
  let isReady = false;
  children.add(child);
  child.once('message', () => (isReady = true));
  child.once('exit', (code, signal) => {
    children.delete(child);
    if (isStopping) return;
    if (!isReady) return giveUp();
    console.log(`[main] a process ended with ${signal ?? code}; another one takes its place`);
    setTimeout(() => !isStopping && start(settings), 1_000);
  });
}

/** Stops when a process fails to start: its successor would fail the same way. */
function giveUp(): void {
  if (isStopping) return;
  console.error(`
A process could not start. The lines above say why.
- Redis or PostgreSQL cannot be reached: start one as sample/05-scaled/README.md says, or set STORE_URL.
- A port is in use: set PORT, SECOND_PORT or RECEIVER_PORT.`);
  process.exitCode = 1;
  stop();
  for (const child of children) child.kill('SIGTERM');
}

function stop(): void {
  isStopping = true;
  receiver.close();
}

// Stands in for another service.
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end());
});
receiver.on('error', (error) => {
  console.error(`[receiver] ${error.message}`);
  giveUp();
});
receiver.listen(Number(RECEIVER_PORT), '127.0.0.1');
processes.forEach(start);

console.log(`Try:
  curl -u wk_shop: -H 'Content-Type: application/json' http://127.0.0.1:${PORT}/v1/track \\
    -d '{"userId":"u1","event":"Order Completed"}'
  the same on port ${SECOND_PORT}
  kill -9 <one of the process ids below>, and try again`);

// Ctrl-C reaches the other processes as well; SIGTERM does not.
process.once('SIGINT', stop);
process.once('SIGTERM', () => {
  stop();
  for (const child of children) child.kill('SIGTERM');
});
