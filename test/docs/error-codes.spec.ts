import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

/** Codes that reach no caller: their messages become a reason, an answer or a line, of a log or of the command line. */
const INTERNAL = [
  'connection_reset',
  'event_file_not_loaded',
  'event_repeated',
  'interrupted',
  'no_events',
  'request_aborted',
  'request_declined',
  'response_too_long',
  'starting',
  'timeout',
  'too_many_requests',
  'transport_failed',
  'webhook_timeout',
];

/** Codes of errors that the source code creates, where the code is a text. */
function readCodes(): string[] {
  const files = readdirSync('lib', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const codes = files.flatMap((path) => [
    ...readFileSync(`lib/${path}`, 'utf8').matchAll(/new RelayError\(\s*'(\w+)'/g),
  ]);
  return [...new Set(codes.map(([, code]) => code!))].sort();
}

const read = (folder: string, files: string[]) => files.map((file) => readFileSync(`${folder}/${file}`, 'utf8')).join();

/** The source code of answers, and what a code looks like there. */
const ANSWERS = {
  'docs/ingest.md': [
    read('lib', ['client/message/message.rules.ts', 'webhook-destination/http/body.reader.ts']) +
      read('lib/webhook-destination/ingest', ['accepted-message.ts', 'batch.parser.ts', 'posted-body.ts']),
    /'([a-z]+(?:_[a-z]+)+)'/g,
  ],
  'docs/admin-api.md': [
    ['', '/api', '/live']
      .map((part) => `lib/webhook-destination/admin${part}`)
      .map((folder) =>
        read(
          folder,
          readdirSync(folder).filter((file) => file.endsWith('.ts')),
        ),
      )
      .join(),
    /(?:RequestError\(\d+, '|^ {2})([a-z]+(?:_[a-z]+)*)(?:'|: \d{3},$)/gm,
  ],
} as const;

describe('The error codes of the source code', () => {
  it.each(Object.entries(ANSWERS))('that are answered are in %s', (page, [source, code]) => {
    const codes = [...source.matchAll(code)].map(([, found]) => found!);
    const markdown = readFileSync(page, 'utf8');
    expect(codes.length).toBeGreaterThan(20);
    // The codes of bodies are on the page of ingest.
    const isListed = (found: string) => markdown.includes(`\`${found}\``) || found === 'body_not_object';
    expect(codes.filter((found) => !isListed(found))).toEqual([]);
  });

  it('are in the tables of docs/errors.md and docs/client.md, except internal ones', () => {
    const pages = ['docs/errors.md', 'docs/client.md'].map((page) => readFileSync(page, 'utf8')).join('\n');
    const rows = pages.split('\n').filter((line) => line.startsWith('|'));
    const isListed = (code: string) => rows.some((row) => row.includes(`\`${code}\``));
    expect(readCodes().filter((code) => !isListed(code))).toEqual(INTERNAL);
  });
});
