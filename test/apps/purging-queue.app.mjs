// Opens a SQLite queue, adds a delivery, purges it, and closes the queue.
import { sqliteQueue } from 'nestjs-analytics-relay';

const queue = sqliteQueue({ path: process.argv[2] })();
await queue.open();
await queue.add([
  { destination: 'W', source: 's', messageId: 'm1', userId: 'u1', body: Buffer.from('{}'), acceptedAt: 1 },
]);
if ((await queue.purge({ userId: 'u1' })) !== 1) throw new Error('the delivery was not purged');
await queue.sweep();
await queue.close();
process.disconnect?.();
