/** A message that was not accepted, and why. */
export interface RejectedMessage {
  /** Index among the posted messages, from 0. */
  index: number;
  field: string;
  code: string;
  message: string;
}

/** Result for messages posted together. Accepted messages are stored durably in the queue. */
export interface AcceptResult {
  accepted: number;
  /** All messages that were not accepted. The answer to an HTTP request explains the first 100. */
  rejected: RejectedMessage[];
}
