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
  rejected: RejectedMessage[];
}
