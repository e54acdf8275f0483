import { execFileSync } from 'node:child_process';

import { nestAdd, type NestAddOptions } from '../../../lib/schematics/nest-add.schematic.js';

const MAIN = `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.ts';

const app = await NestFactory.create(AppModule);
await app.listen(3000);
`;

/** A new application. */
export const NEW_FILES = { 'src/main.ts': MAIN, 'src/app.module.ts': '@Module({})\nclass AppModule {}\n' };

/** Runs the schematic on these files; returns the files and what it logs. */
export function add(files: Record<string, string>, options: NestAddOptions = {}) {
  const all = new Map(Object.entries({ 'package.json': '{}', ...files }));
  const [lines, warnings]: [string[], string[]] = [[], []];
  const put = (path: string, content: string) => void all.set(path, content);
  const read = (path: string) => (all.has(path) ? Buffer.from(all.get(path)!) : null);
  nestAdd(options)(
    { read, exists: (path) => all.has(path), create: put, overwrite: put },
    {
      logger: { info: (line) => lines.push(line), warn: (line) => warnings.push(line) },
      addTask: () => undefined,
    },
  );
  return { files: all, lines, warnings };
}

/** Runs the commands that the generated `.env.example` gives for its settings; returns what each prints. */
export function generateSettings(): Record<string, string> {
  const example = add(NEW_FILES).files.get('.env.example')!;
  const commands = example.matchAll(/^# .*, from: (.+)\n(?:#.*\n)*(\w+)=$/gm);
  const generated: Record<string, string> = {};
  for (const [, command, name] of commands) generated[name!] = execFileSync('sh', ['-c', command!]).toString().trim();
  return generated;
}
