import { readFileSync } from 'node:fs';

import { signBody, verifyStandardWebhook } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { nextAttemptAt } from '../../lib/webhook-destination/dispatch/retry-schedule.util.js';

/** The first block of a language in a page. */
const blockOf = (page: string, language: string) =>
  new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(readFileSync(page, 'utf8'))![1]!;

describe('The webhook in docs/webhooks.md', () => {
  it('has the headers of its body', () => {
    const secret = /signed with the secret `(\S+)`/.exec(readFileSync('docs/webhooks.md', 'utf8'))![1]!;
    const lines = [...blockOf('docs/webhooks.md', 'http').matchAll(/^([\w-]+): (.+)$/gm)];
    const headers = Object.fromEntries(lines.map(([, name, value]) => [name!.toLowerCase(), value!]));
    const body = Buffer.from(JSON.stringify(JSON.parse(blockOf('docs/webhooks.md', 'json'))));

    expect(headers['content-length']).toBe(String(body.length));
    expect(headers['x-signature']).toBe(signBody(body, secret));
    const tolerance = Date.now();
    expect(verifyStandardWebhook(body, headers, secret, { tolerance })).toBe(true);
  });
});

describe('The schedule in docs/delivery.md', () => {
  it('is that of the options by default, without their jitter', () => {
    const delivery = { initialRetryDelay: 10_000, maxRetryDelay: 1_800_000, retryWindow: 14_400_000, timeout: 5_000 };
    const times = [0];
    for (let at: number | undefined = 0; at !== undefined;) {
      const state = { startedAt: at, now: at, attempts: times.length, firstAttemptAt: 0 };
      at = nextAttemptAt(state, delivery, () => 0.5);
      if (at !== undefined) times.push(at);
    }

    const picture = readFileSync('docs/images/schedule.svg', 'utf8');
    const shown = [...picture.matchAll(/data-seconds="(\d+)"/g)].map(([, seconds]) => Number(seconds) * 1_000);
    expect(shown).toEqual(times);
    expect(times).toHaveLength(16);
  });
});
