/** Returns the number of deliveries to each destination. */
export function countByDestination(deliveries: readonly { destination: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { destination } of deliveries) counts.set(destination, (counts.get(destination) ?? 0) + 1);
  return counts;
}
