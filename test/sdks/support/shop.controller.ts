import { readFile } from 'node:fs/promises';

import { Controller, Get, Header } from '@nestjs/common';

/** As npm delivers it, for a script tag. */
const SDK = 'node_modules/@segment/analytics-next/dist/umd/index.js';

/** `record(options)` records one message of each kind with the SDK; its settings come from the page, not from a CDN. */
const PAGE = `<!doctype html>
<title>Shop</title>
<script src="/analytics.js"></script>
<script>
  async function record(segmentIo) {
    const analytics = AnalyticsNext.AnalyticsBrowser.load(
      {
        writeKey: 'wk_shop',
        cdnSettings: {
          integrations: { 'Segment.io': { apiKey: 'wk_shop' } },
          metrics: { sampleRate: 1, flushTimer: 10 },
        },
      },
      { integrations: { 'Segment.io': segmentIo } },
    );
    await analytics.alias('u1');
    await analytics.identify('u1', { plan: 'pro', seats: 5 });
    await analytics.track('Order Completed', { revenue: '39.95' }, { timestamp: '2012-12-02T00:30:12.984Z' });
    await analytics.page('Shop', 'Home');
    await analytics.screen('Cart', { items: 2 });
    await analytics.group('g1', { 'company name': 'Initech' });
  }

  /** Records one event with the settings that a URL answers. */
  async function recordBySettings(cdnURL) {
    const analytics = AnalyticsNext.AnalyticsBrowser.load({ writeKey: 'wk_shop', cdnURL });
    await analytics.track('Order Completed', { revenue: '39.95' });
  }

  /** Posts an event as an SDK does that a tracing library has added its headers to. */
  async function postTraced(url, message) {
    const headers = { 'Content-Type': 'application/json', baggage: 'a=1', 'sentry-trace': '1', 'x-datadog-origin': 'rum' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
    return answer.status;
  }

  const sendBeacon = (url, message) =>
    navigator.sendBeacon(url, new Blob([JSON.stringify(message)], { type: 'application/json' }));
</script>
`;

/** A web shop that records what its visitors do with `@segment/analytics-next`. */
@Controller()
export class ShopController {
  @Get('shop')
  @Header('Content-Type', 'text/html')
  page(): string {
    return PAGE;
  }

  @Get('analytics.js')
  @Header('Content-Type', 'text/javascript')
  sdk(): Promise<string> {
    return readFile(SDK, 'utf8');
  }
}
