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

describe('The error codes of the source code', () => {
  it('are in the tables of docs/errors.md and docs/client.md, except internal ones', () => {
    const pages = ['docs/errors.md', 'docs/client.md'].map((page) => readFileSync(page, 'utf8')).join('\n');
    const rows = pages.split('\n').filter((line) => line.startsWith('|'));
    const isListed = (code: string) => rows.some((row) => row.includes(`\`${code}\``));
    expect(readCodes().filter((code) => !isListed(code))).toEqual(INTERNAL);
  });
});
