/** Most deliveries stored as one batch, so that a claim takes little more than it has room for. */
export const MAX_BATCH = 256;

/**
 * Bytes of bodies with which a batch is full, so that little is read for one delivery of it. Those of one request are
 * seldom as many, unless its batch lends most of them to its messages.
 */
export const FULL_BATCH = 512 * 1024;
