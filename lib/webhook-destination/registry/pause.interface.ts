/** A time in which a destination was paused. */
export interface Pause {
  /** When it was paused, in ms since the epoch. */
  from: number;
  /** When it was resumed, in ms since the epoch; absent while it is paused. */
  to?: number;
}
