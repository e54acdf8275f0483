/** A delivery within its batch: who and what, and the length of its body; null once it is purged. */
export type BatchItem = [messageId: string, userId: string | null, length: number] | null;

/** What became of a delivery of a batch: delivered, with its attempt, or gone into a row of its own. */
export type BatchOutcome = [position: number, attempt?: unknown];

/** The columns `items` and `bodies`: the bodies one after the other, byte for byte, so that they are not escaped. */
export function encodeBatch(deliveries: { messageId: string; userId: string | undefined; body: string }[]): {
  items: string;
  bodies: string;
} {
  let bodies = '';
  const items = deliveries.map(({ messageId, userId, body }): BatchItem => {
    bodies += body;
    return [messageId, userId ?? null, body.length];
  });
  return { items: JSON.stringify(items), bodies };
}

export function decodeItems(items: string): BatchItem[] {
  return JSON.parse(items) as BatchItem[];
}

/** The bodies of a batch, by position; that of a purged delivery is empty. */
export function decodeBodies(items: BatchItem[], bodies: string): string[] {
  let start = 0;
  return items.map((item) => bodies.slice(start, (start += item?.[2] ?? 0)));
}

export function decodeOutcomes(entries: string | null): BatchOutcome[] {
  return entries === null ? [] : (JSON.parse(`[${entries}]`) as BatchOutcome[]);
}

/** The column `entries`: a list without brackets, so that more can be appended. */
export function encodeOutcomes(outcomes: BatchOutcome[]): string {
  return outcomes.map((outcome) => JSON.stringify(outcome)).join(',');
}
