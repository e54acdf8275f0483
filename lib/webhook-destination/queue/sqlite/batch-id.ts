/** Deliveries that one batch can hold: a delivery's id is its batch's, times this, plus its position. */
export const BATCH_SLOTS = 4_096;

/** The positions of deliveries in their batches, by batch. */
export function toPositions(ids: number[]): Map<number, Set<number>> {
  const positions = new Map<number, Set<number>>();
  for (const id of ids) {
    const batch = Math.floor(id / BATCH_SLOTS);
    const others = positions.get(batch);
    if (others) others.add(id % BATCH_SLOTS);
    else positions.set(batch, new Set([id % BATCH_SLOTS]));
  }
  return positions;
}
