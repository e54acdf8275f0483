import { readFileSync, statSync } from 'node:fs';

/** A configuration file of the system, parsed; a missing or unreadable one counts as empty. */
export class SystemFile<T> {
  private loaded: string | undefined;
  private content: T;

  /** @param parse takes the words of each line, without comments */
  constructor(
    private readonly path: string,
    private readonly parse: (lines: string[][]) => T,
  ) {
    this.content = parse([]);
  }

  /** Changes with the file. */
  get version(): string {
    try {
      const { ino, size, mtimeMs } = statSync(this.path);
      return `${ino} ${size} ${mtimeMs}`;
    } catch {
      return 'missing';
    }
  }

  /** The content as it is now; the file is parsed only when it has changed. */
  read(): T {
    const { version } = this;
    if (version !== this.loaded) {
      this.loaded = version;
      this.content = this.parse(this.lines());
    }
    return this.content;
  }

  private lines(): string[][] {
    let text = '';
    try {
      text = readFileSync(this.path, 'utf8');
    } catch {
      // Counts as empty.
    }
    return text.split('\n').map((line) =>
      line
        .replace(/[#;].*/, '')
        .split(/\s+/)
        .filter(Boolean),
    );
  }
}
