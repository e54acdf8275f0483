import { readFileSync, statSync } from 'node:fs';

/**
 * Returns a reader of a system configuration file. The content is parsed again, into a new object, only if the file has
 * changed; a missing or unreadable file counts as empty.
 *
 * @param parse receives the words of each line, without comments
 */
export function systemFile<T>(path: string, parse: (lines: string[][]) => T): () => T {
  let version = '';
  let content = parse([]);
  return () => {
    let text = '';
    try {
      const { ino, size, mtimeMs } = statSync(path);
      if (version === `${ino} ${size} ${mtimeMs}`) return content;
      version = `${ino} ${size} ${mtimeMs}`;
      text = readFileSync(path, 'utf8');
    } catch {
      if (version === 'missing') return content;
      version = 'missing';
    }
    const lines = text.split('\n').map((line) =>
      line
        .replace(/[#;].*/, '')
        .split(/\s+/)
        .filter(Boolean),
    );
    return (content = parse(lines));
  };
}
