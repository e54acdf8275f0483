/** Collects the bytes of a body in memory of at most twice their size, however many chunks bring them. */
export class BodyBuffer {
  private bytes: Buffer = Buffer.alloc(0);
  /** How many bytes have come. */
  size = 0;

  /** @param most bytes that will come; the caller sees to it that no more do */
  constructor(private readonly most: number) {}

  add(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (this.size === 0) {
      this.bytes = chunk; // most bodies are one chunk, which need not be copied
    } else {
      if (size > this.bytes.length) this.grow(size);
      chunk.copy(this.bytes, this.size);
    }
    this.size = size;
  }

  /** The bytes that have come, without a copy. */
  content(): Buffer {
    return this.bytes.subarray(0, this.size);
  }

  private grow(size: number): void {
    const larger = Buffer.allocUnsafe(Math.min(Math.max(size, 2 * this.bytes.length), this.most));
    this.bytes.copy(larger, 0, 0, this.size);
    this.bytes = larger;
  }
}
