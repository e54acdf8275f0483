/** A delivery within its batch: who and what, and the length of its body; null once it is purged. */
export type BatchItem = [messageId: string, userId: string | null, length: number] | null;

/** What became of a delivery of a batch: delivered, with its attempt, or gone into a row of its own. */
export type BatchOutcome = [position: number, attempt?: unknown];

/** The columns `items` and `bodies`, the bodies one after the other; and the messageIds as they are in `items`. */
export function encodeBatch(deliveries: { messageId: string; userId: string | undefined; body: Buffer }[]): {
  messageIds: string;
  items: string;
  bodies: Uint8Array;
} {
  const messageIds = JSON.stringify(deliveries.map(({ messageId }) => messageId));
  const userIds = JSON.stringify(deliveries.map(({ userId }) => userId ?? null));
  const bodies = deliveries.map(({ body }) => body);
  const lengths = JSON.stringify(bodies.map(({ length }) => length));
  return { messageIds, items: `[${messageIds},${userIds},${lengths}]`, bodies: joinBodies(bodies) };
}

/** In memory of their own: a part of a shared pool would reach the other thread with all of the pool. */
function joinBodies(bodies: Uint8Array[]): Uint8Array {
  const joined = Buffer.allocUnsafeSlow(bodies.reduce((size, { length }) => size + length, 0));
  let start = 0;
  for (const body of bodies) {
    joined.set(body, start);
    start += body.length;
  }
  return joined;
}

/** The columns without the deliveries at some positions, whose places stay empty. */
export function stripBatch(items: BatchItem[], bodies: Uint8Array, positions: { has(position: number): boolean }) {
  const kept = decodeBodies(items, bodies).filter((_, position) => !positions.has(position));
  return {
    items: items.map((item, position) => (positions.has(position) ? null : item)),
    bodies: joinBodies(kept),
  };
}

export function decodeItems(items: string): BatchItem[] {
  const [messageIds, userIds, lengths] = JSON.parse(items) as [(string | null)[], (string | null)[], number[]];
  return messageIds.map((messageId, position) =>
    messageId === null ? null : [messageId, userIds[position]!, lengths[position]!],
  );
}

export function encodeItems(items: BatchItem[]): string {
  const columns = [0, 1, 2].map((column) => items.map((item) => item?.[column] ?? null));
  return JSON.stringify(columns);
}

/** The bodies of a batch, by position; that of a purged delivery is empty. */
export function decodeBodies(items: BatchItem[], bodies: Uint8Array): Buffer[] {
  let start = bodies.byteOffset;
  return items.map((item) => {
    const length = item?.[2] ?? 0;
    const body = Buffer.from(bodies.buffer, start, length);
    start += length;
    return body;
  });
}

export function decodeOutcomes(entries: string | null): BatchOutcome[] {
  return entries === null ? [] : (JSON.parse(`[${entries}]`) as BatchOutcome[]);
}

/** The column `entries`: a list without brackets, so that more can be appended. */
export function encodeOutcomes(outcomes: BatchOutcome[]): string {
  return outcomes.map((outcome) => JSON.stringify(outcome)).join(',');
}
