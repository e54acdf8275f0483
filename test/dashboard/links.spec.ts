import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onExpress } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { waitFor } from '../support/wait-for.js';
import { track } from '../webhook-destination/admin/api/support.js';
import { useDashboard } from './support/dashboard.harness.js';

/** Names of destinations, a source and a user, that occur in no other text. */
const NAMES = ['crm-one', 'crm-two', 'web-shop', 'customer-77'];

/** What may have a name without a link: titles of its own page, values of fields and of code, and what has a link. */
const EXEMPT = 'a, h1, h2, button, label, option, pre, code, summary, datalist';

/** Names on the page that lead nowhere. */
const DEAD_ENDS = `(() => {
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const { textContent, parentElement } = texts.currentNode;
    if (${JSON.stringify(NAMES)}.includes(textContent) && !parentElement.closest('${EXEMPT}')) {
      found.push(parentElement.closest('td, th, li, dd, p').outerHTML.slice(0, 200));
    }
  }
  return found;
})()`;

(withChromium ? describe : describe.skip).each(onExpress)('Names on $platform', ({ createAdapter }) => {
  const { afterwards, open, allowRefusals } = useDashboard();

  it('of destinations, sources and users are links to their pages, wherever they are shown', async () => {
    allowRefusals(404);
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    receiver.statuses = [404];
    const { page, host, relay, json } = await open(createAdapter(), {
      options: {
        sources: [{ name: 'web-shop', writeKey: 'wk_shop' }],
        destinations: ['crm-one', 'crm-two'].map((name) => ({ name, urls: [receiver.url], sources: ['web-shop'] })),
      },
      hash: '#/live',
    });
    await page.getByText('Live: events of this process only.').waitFor();
    const fields = { userId: 'customer-77', event: 'Order Completed' };
    await relay.accept('wk_shop', [track('m1', fields), track('m2', { ...fields, event: 7 })]);
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 2);
    await page.locator('tbody tr').nth(3).waitFor();
    expect(await page.evaluate(DEAD_ENDS)).toEqual([]);

    const [{ id } = { id: '' }] = await relay.deliveries({ destination: 'crm-one' });
    const query = { state: 'dead', destination: 'crm-two', userId: 'customer-77', source: 'web-shop' };
    const { answer: replay } = await json('POST', 'replays', { body: { query, expected: 1 } });
    await waitFor(async () => (await json('GET', `replays/${replay.id}`)).answer.state === 'done');
    await json('POST', 'deletions', { body: { userId: 'customer-78', sources: ['web-shop'] } });
    const { answer: activity } = await json('GET', 'activity?what=user.delete');
    const [deletion] = activity.entries as { id: string }[];
    const message = JSON.stringify({ type: 'track', userId: 'customer-77', event: 'Viewed' });

    /** Pages, each with a text that is there once it is loaded. */
    const pages = {
      overview: 'Deliveries by destination',
      deliveries: 'shown (all)',
      [`deliveries/${id}`]: 'What happened',
      dead: 'counted (all)',
      [`deliveries/replays/${replay.id}`]: 'Deliveries that were dead',
      destinations: 'shown (all)',
      'destinations/crm-one': 'Options',
      sources: 'shown (all)',
      'sources/web-shop': 'Refused messages',
      'search?text=customer-77': 'Deliveries by user',
      'search?text=crm': 'Found in',
      'users?userId=customer-77': 'shown (all)',
      activity: 'shown (all)',
      [`activity/${deletion!.id}`]: 'What was deleted',
    };
    for (const [hash, text] of Object.entries(pages)) {
      await page.goto(`${host}/relay/#/${hash}`);
      await page.getByRole('main').getByText(text).first().waitFor();
      expect([hash, await page.evaluate(DEAD_ENDS)]).toEqual([hash, []]);
    }
    await page.goto(`${host}/relay/#/explain`);
    await page.getByLabel('Message', { exact: true }).fill(message);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('main').locator('dd').getByRole('link', { name: 'crm-one' }).waitFor();
    expect(await page.evaluate(DEAD_ENDS)).toEqual([]);
    await page.getByRole('link', { name: 'web-shop' }).click();
    await page.getByRole('heading', { level: 1, name: 'web-shop' }).waitFor();
    await page.goto(`${host}/relay/#/destinations/gone`);
    await page.getByRole('link', { name: 'Deliveries to this name' }).click();
    await page.getByText('No deliveries match.').waitFor();
  });
});
