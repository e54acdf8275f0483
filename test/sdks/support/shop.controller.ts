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
