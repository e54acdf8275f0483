/** BullMQ's codes for a job that is gone, is not locked, is not in delivery, or is locked by somebody else. */
const LOST = [-1, -2, -3, -6];

/** Whether an error says that the lease of a job is over. */
export function isLost(error: unknown): boolean {
  return LOST.includes((error as { code?: number }).code ?? 0);
}

/** The error of a lease that is over, as far as this process knows. */
export function leaseIsLost(): Error {
  return Object.assign(new Error('the lease is over'), { code: -2 });
}
