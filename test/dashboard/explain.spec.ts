import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onFastify } from '../support/platforms.js';
import { READ_TOKEN } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';
import { deep, HOSTILE, LONG } from './support/hostile.js';

const URL = 'http://127.0.0.1:9/hook';

/** Types a message, and asks for its explanation. */
async function explain(page: Page, message: unknown): Promise<void> {
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Explain' }).click();
}

const facts = (page: Page) => page.getByRole('region', { name: 'Acceptance' });

(withChromium ? describe : describe.skip).each(onFastify)('Explain on $platform', ({ createAdapter }) => {
  const { open, allowRefusals } = useDashboard();

  it('says where a message would go, why not elsewhere, and what would be sent', async () => {
    const { page, receiver } = await open(createAdapter(), {
      hash: '#/explain',
      token: READ_TOKEN,
      options: {
        sources: [
          { name: 'app', writeKey: 'wk_app' },
          { name: 'shop', writeKey: 'wk_shop' },
        ],
        destinations: [
          {
            name: 'crm',
            urls: [`${URL}?key=hidden`],
            headers: { 'X-Api-Key': 'hidden' },
            sharedSecret: 'hidden-secret',
          },
          { name: 'orders', urls: [URL], events: ['Order *'] },
          { name: 'app only', urls: [URL], sources: ['app'] },
          { name: 'off', urls: [URL], enabled: false },
          { name: HOSTILE, urls: [URL], transform: () => undefined },
        ],
      },
    });
    await page.getByLabel('Source').selectOption('shop');
    await explain(
      page,
      `{"type":"track","userId":"u1","event":"Viewed","properties":{"revenue":39.95,"text":${JSON.stringify(HOSTILE)}}}`,
    );
    await facts(page).getByText('accepted').waitFor();
    await page.getByText('Accepted. 1 destination gets it.').waitFor({ state: 'attached' });
    const shown = page.locator('details').filter({ hasText: 'crm' }); // the first one is open
    await shown.locator('pre').waitFor();
    const text = (await shown.textContent())!;
    expect(text).toContain('"revenue": 39.95');
    expect(text).toContain('\\u202e');
    expect(text).toContain(URL);
    expect(text).not.toContain('hidden-secret');
    expect(text).not.toMatch(/key=hidden|X-Api-Key\s*hidden\b(?! )/);
    for (const [name, reason] of [
      ['orders', 'The destination has event patterns that this event does not match.'],
      ['off', 'The destination is disabled.'],
    ]) {
      const summary = page.locator('summary').filter({ hasText: name });
      expect(await summary.textContent()).toContain(reason);
    }
    await page.getByText('1 destination takes messages of other sources only.').waitFor();
    expect(await page.locator('summary').allInnerTexts()).not.toContain('app only');
    const dropped = page.locator('details', { has: page.locator('summary', { hasText: '<script>' }) });
    await dropped.locator('summary').focus();
    await page.keyboard.press('Enter');
    await dropped.getByText('transform sends nothing').waitFor();
    await page.keyboard.press('Enter');
    await dropped.getByText('transform sends nothing').waitFor({ state: 'hidden' });
    await expectGoodLook(page, 'explain');
    expect(receiver.webhooks).toEqual([]);
  });

  it('says that a repeated message is not sent again', async () => {
    const { page, relay, receiver } = await open(createAdapter(), { hash: '#/explain' });
    const message = { type: 'track', userId: 'u1', event: 'Ordered', messageId: 'm1' };
    await relay.accept('wk_shop', [message]);
    await receiver.received(1);
    await explain(page, message);
    await page.getByText('0 destinations get it; 1 has a message with this id already', { exact: true }).waitFor();
    const summary = page.locator('summary').filter({ hasText: 'Webhooks' });
    expect(await summary.innerText()).toContain('not sent again');
    await page.getByRole('link', { name: 'the delivery with this message id' }).click();
    await page.getByText('1 shown (all)').waitFor();
    await page.goBack();
    await facts(page).getByText('m1', { exact: true }).waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe(JSON.stringify(message));
    await explain(page, { ...message, messageId: 'm2' });
    await page.getByText('1 destination gets it', { exact: true }).waitFor();
  });

  it('counts no further than the destinations that it lists', async () => {
    const destinations = Array.from({ length: 120 }, (_, index) => ({
      name: `hook-${index}`,
      urls: ['https://receiver.example/'],
      ...(index === 0 && { transform: () => undefined }),
    }));
    const { page } = await open(createAdapter(), { hash: '#/explain', options: { destinations } });
    await explain(page, { type: 'track', userId: 'u1', event: 'Ordered' });
    await page.getByRole('heading', { name: /^At least (99|100) destinations get it$/ }).waitFor();
    expect(await page.locator('summary').first().innerText()).toContain('gets it');
  });

  it('says which rule a message breaks', async () => {
    const { page } = await open(createAdapter(), { hash: '#/explain' });
    await explain(page, { type: 'track', userId: 'u1' });
    await facts(page).getByText('refused').waitFor();
    await facts(page).getByText('event', { exact: true }).waitFor();
    await explain(page, { type: 'track', userId: 'u1', event: 'e', properties: deep(500) });
    await facts(page).getByText('message_too_deep').waitFor();
    await explain(page, { type: 'track', userId: 'u1', event: 'e', properties: { text: LONG, below: deep(20) } });
    await facts(page).getByText('accepted').waitFor();
    expect(await page.locator('.json-view pre').textContent()).toContain('xend"');
    await expectGoodLook(page, 'explain-long');
  });

  it('says in which line the JSON is wrong, before it asks', async () => {
    const { page } = await open(createAdapter(), { hash: '#/explain' });
    const field = page.getByLabel('Message', { exact: true });
    for (const [text, fault, selected] of [
      [' ', 'Enter a message.', ''],
      ['{\n  "type": "track",\n}', 'a name in double quotes was expected (line 3, column 1).', '}'],
      ['{\n  "type": }', 'a value was expected (line 2, column 11).', '  "type": }'],
      ['{ "type": "track"\n', 'The JSON ends too early: a comma or } was expected (line 2, column 1).', ''],
      ["{ 'type': 1 }", 'Strings need double quotes (line 1, column 3).', "{ 'type': 1 }"],
      ['{ "type": "tra\nck" }', 'This string does not end', '{ "type": "tra'],
      ['{ "a": [1 2] }', 'a comma or ] was expected (line 1, column 11).', '{ "a": [1 2] }'],
      ['[1]', 'The message must be an object', ''],
    ] as const) {
      await explain(page, text);
      await page.getByText(fault).waitFor();
      expect(await page.evaluate('getSelection().toString()')).toBe(selected);
      expect(await field.getAttribute('aria-invalid')).toBe('true');
    }
    await expectGoodLook(page, 'explain-fault');
  });

  it('shows why the relay could not answer', async () => {
    allowRefusals(413);
    const { page } = await open(createAdapter(), { hash: '#/explain' });
    await explain(page, { type: 'track', userId: 'u1', event: 'e', properties: { text: 'x'.repeat(600_000) } });
    await page.getByRole('alert').waitFor();
  });
});
