import { execFileSync } from 'node:child_process';

import { describe, expect, it } from 'vitest';

const rules = new URL('../../dist/esm/client/message/message.rules.js', import.meta.url);

/** What a process in a time zone takes a timestamp for. */
function momentIn(timeZone: string, timestamp: string): string {
  const script = `import { parseTimestamp } from '${rules.href}'; console.log(parseTimestamp('${timestamp}').toISOString())`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { env: { TZ: timeZone } })
    .toString()
    .trim();
}

describe('A timestamp', () => {
  it.each(['2026-01-02T03:04:05', '2026-01-02 03:04:05.000', '2026-01-02T03:04:05Z', '2026-01-02T05:04:05+02:00'])(
    'tells the same moment wherever the process is: %s',
    (timestamp) => expect(momentIn('America/New_York', timestamp)).toBe('2026-01-02T03:04:05.000Z'),
  );
});
