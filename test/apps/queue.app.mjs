// A SQLite queue as a process of its own, driven over IPC: { add } with messageIds, { settle } with one, { list }.
import { sqliteQueue } from 'nestjs-analytics-relay';

// Past the limit of a file's size a write fails, as it does on a full disk.
process.on('SIGXFSZ', () => undefined);

const queue = sqliteQueue({ path: process.argv[2] })();
const leases = new Map();

const commands = {
  add: (messageIds) => {
    const acceptedAt = Date.now();
    const body = Buffer.from('{}');
    const common = { destination: 'Webhooks', source: 'shop', userId: 'u1', body, acceptedAt };
    return queue.add(messageIds.split(' ').map((messageId) => ({ ...common, messageId })));
  },
  settle: (messageId) =>
    leases.get(messageId).settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } }),
  list: async () => (await queue.list({})).map(({ messageId, state }) => `${messageId} ${state}`),
};

process.on('message', ({ command, argument }) => {
  commands[command](argument).then(
    (result) => process.send({ command, argument, result }),
    (error) => process.send({ command, argument, error: error.message }),
  );
});
try {
  await queue.open();
  queue.consume('Webhooks', 8).subscribe((lease) => {
    leases.set(lease.delivery.messageId, lease);
    process.send({ command: 'lease', argument: lease.delivery.messageId });
  });
  process.send({ command: 'open' });
} catch (error) {
  process.send({ command: 'open', error: error.message });
  process.disconnect();
}
