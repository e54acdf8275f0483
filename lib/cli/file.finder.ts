import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';

const EVENT_FILE = /\.events?\.[cm]?js$/;

/**
 * The files that the arguments name: a file, a folder (its event files), or a pattern with `*`, `**` and `?`.
 *
 * @returns Absolute paths, in order.
 * @throws {Error} for an argument that names none.
 */
export async function findFiles(args: string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const arg of args) {
    const files = await filesOf(arg);
    if (files.length === 0) throw new Error(`${arg} names no event file`);
    for (const file of files) found.add(file);
  }
  return [...found].sort();
}

async function filesOf(arg: string): Promise<string[]> {
  const path = resolve(arg);
  const kind = await stat(path).catch(() => undefined);
  if (kind?.isFile()) return [path];
  if (kind?.isDirectory()) return (await walk(path)).filter((file) => EVENT_FILE.test(file));
  if (!/[*?]/.test(arg)) throw new Error(`${arg} does not exist`);
  // What comes before the first wildcard is a folder.
  const segments = arg.split('/');
  const wild = segments.findIndex((segment) => /[*?]/.test(segment));
  const root = resolve(segments.slice(0, wild).join('/') || (arg.startsWith('/') ? '/' : '.'));
  const pattern = toRegExp(segments.slice(wild));
  return (await walk(root)).filter((file) => pattern.test(relative(root, file).split(sep).join('/')));
}

async function walk(folder: string): Promise<string[]> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return Promise.resolve([path]);
      return entry.name === 'node_modules' ? Promise.resolve([]) : walk(path);
    }),
  );
  return files.flat();
}

function toRegExp(segments: string[]): RegExp {
  const parts = segments.map((segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment === '**') return isLast ? '.*' : '(?:[^/]+/)*';
    const escaped = segment.replace(/[.+^${}()|[\]\\]/g, '\\$&');
    return escaped.replace(/\*/g, '[^/]*').replace(/\?/g, '[^/]') + (isLast ? '' : '/');
  });
  return new RegExp(`^${parts.join('')}$`);
}
