/** A message that was not accepted, and why. */
export interface RejectedMessage {
  /** Its place among the messages posted. */
  index: number;
  field: string;
  code: string;
  message: string;
}

/** What became of the messages posted together; those accepted are in the queue, durably. */
export interface AcceptResult {
  accepted: number;
  /** Every one that was not accepted; the answer to an HTTP request names the first 100. */
  rejected: RejectedMessage[];
}
