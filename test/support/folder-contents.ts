import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of the files of a folder that hold a text somewhere in their bytes. */
export function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text));
}
