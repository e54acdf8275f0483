// Asks for a path as fast as it is answered, over connections that stay open for so long.
import { once } from 'node:events';
import { connect } from 'node:net';

const CONNECTIONS = 32;

/** What the bench asks for. */
export interface Load {
  port: number;
  count: number;
}

const REQUEST = 'GET /orders/7 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\n\r\n';
const STATUS = 'HTTP/1.1 200';
/** The end of the body that every contender answers with. */
const END = '"total":9.9}';

/** Asks over one connection, again as soon as it is answered, while `next` says so. */
async function keepAsking(port: number, next: () => boolean): Promise<void> {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  while (next()) {
    socket.write(REQUEST);
    const [data] = (await once(socket, 'data')) as [Buffer];
    if (!data.includes(STATUS) || !data.includes(END)) throw new Error(`answered ${data.toString()}`);
  }
  socket.destroy();
}

async function load({ port, count }: Load): Promise<{ elapsed: number }> {
  let left = count;
  const start = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, () => keepAsking(port, () => left-- > 0)));
  return { elapsed: performance.now() - start };
}

process.on('message', (order: Load) => void load(order).then((answer) => process.send!(answer)));
process.once('disconnect', () => process.exit());
process.send!('ready');
