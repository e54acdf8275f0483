/** Collects the bytes of a body, using at most twice their size in memory for any number of chunks. */
export class BodyBuffer {
  private bytes: Buffer = Buffer.alloc(0);
  /** Number of bytes received. */
  size = 0;

  /** @param most maximum number of bytes; the caller enforces it */
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

  /** Returns the received bytes without copying them. */
  content(): Buffer {
    return this.bytes.subarray(0, this.size);
  }

  private grow(size: number): void {
    const larger = Buffer.allocUnsafe(Math.min(Math.max(size, 2 * this.bytes.length), this.most));
    this.bytes.copy(larger, 0, 0, this.size);
    this.bytes = larger;
  }
}
