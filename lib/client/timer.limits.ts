/** Longest delay that a timer takes, in ms. */
export const MAX_TIMER_DELAY = 2 ** 31 - 1;
