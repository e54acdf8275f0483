import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';

/** Codes that reach no caller: their messages become a reason, an answer or a line, of a log or of the command line. */
const INTERNAL = [
  'connection_reset',
  'event_file_not_loaded',
  'event_repeated',
  'interrupted',
  'no_events',
  'proxy_failed',
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

/** Files with the codes that ingest answers for bodies, batches and messages. */
const OF_INGEST = ['accepted-message', 'batch.parser', 'body.reader', 'posted-body'];
const INGEST_FILES = [
  'lib/client/message/message.rules.ts',
  ...OF_INGEST.map((name) => `lib/webhook-destination/ingest/${name}.ts`),
];

describe('The error codes of the source code', () => {
  it('of ingest are in docs/ingest.md', () => {
    const texts = INGEST_FILES.map((file) => readFileSync(file, 'utf8')).join('\n');
    const codes = [...texts.matchAll(/'([a-z]+(?:_[a-z]+)+)'/g)].map(([, code]) => code!);
    const page = readFileSync('docs/ingest.md', 'utf8');
    expect(codes.length).toBeGreaterThan(20);
    expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });

  it('are in the tables of docs/errors.md and docs/client.md, except internal ones', () => {
    const pages = ['docs/errors.md', 'docs/client.md'].map((page) => readFileSync(page, 'utf8')).join('\n');
    const rows = pages.split('\n').filter((line) => line.startsWith('|'));
    const isListed = (code: string) => rows.some((row) => row.includes(`\`${code}\``));
    expect(readCodes().filter((code) => !isListed(code))).toEqual(INTERNAL);
  });
});
