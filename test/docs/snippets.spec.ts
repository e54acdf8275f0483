import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { compilePage } from './support/compiled-page.js';
import { type Page, parsePage, readPages } from './support/page.js';

describe('The ts blocks', () => {
  const cleanUp = useCleanUps();

  async function faultsOf(page: Page): Promise<string[]> {
    const folder = await temporaryFolder(cleanUp);
    return compilePage(page, folder.path(''));
  }

  it.each(readPages())('of $name compile as they are, in the application of a reader', async (page) => {
    expect(await faultsOf(page)).toEqual([]);
  });

  describe('of a page', () => {
    /** A page with a block of each of these codes. */
    const page = (...blocks: string[]) =>
      parsePage('docs/page.md', ['# Page', ...blocks.map((code) => `\`\`\`ts\n${code}\n\`\`\``)].join('\n\n'));

    it('are told with page, line and format where they do not compile', async () => {
      expect(await faultsOf(page(`export const text: string = 5;`, `\nanalytics.track();`))).toEqual([
        `docs/page.md:4 (commonjs) TS2322 Type 'number' is not assignable to type 'string'.`,
        `docs/page.md:9 (commonjs) TS2304 Cannot find name 'analytics'.`,
        `docs/page.md:4 (esm) TS2322 Type 'number' is not assignable to type 'string'.`,
        `docs/page.md:9 (esm) TS2304 Cannot find name 'analytics'.`,
      ]);
    });

    it('import one another by the file that their first line names, which no two share', async () => {
      const order = `// src/shop/order.ts\nexport interface Order {}`;
      const user = `import type { Order } from './shop/order.js';\nexport const orders: Order[] = [];`;
      expect(await faultsOf(page(order, user))).toEqual([]);
      expect(await faultsOf(page(user))).toHaveLength(2);
      expect(() => page(order, order)).toThrow('docs/page.md: two blocks are src/shop/order.ts');
    });

    it('are found within lists, and other languages are left alone', () => {
      const { snippets } = parsePage(
        'docs/page.md',
        '1. First:\n\n   ```ts\n   a;\n     b;\n   ```\n\n```js\nc;\n```\n',
      );
      expect(snippets).toEqual([{ file: 'src/line-4.ts', code: 'a;\n  b;\n', line: 4 }]);
    });
  });

  it('may have types of the package and of other files in decorated signatures, imported with `import type`', async () => {
    const markdown = (importOrder: string) => `
\`\`\`ts
// src/order.ts
export interface Order {
  id: string;
}
\`\`\`

\`\`\`ts
import { Injectable } from '@nestjs/common';
import { Alias, AnalyticsContext, AnalyticsService, Group, Identify, OptionsError, Page, Screen, Track } from 'nestjs-analytics-relay';
import type { AnalyticsRequest, DeliveryEvent, Message, TrackParams, UserTraits } from 'nestjs-analytics-relay';
import { AnalyticsRecorder } from 'nestjs-analytics-relay/testing';

${importOrder} { Order } from './order.js';

@Injectable()
export class Shop {
  constructor(private readonly analytics: AnalyticsService) {}

  @Track<Shop['track']>('Order Placed', { properties: ({ args: [order], result }) => ({ id: order.id, type: result.type }) })
  track(order: Order, message: Message): Message {
    return { ...message, messageId: order.id };
  }

  @Identify<Shop['identify']>({ traits: ({ args: [traits] }) => traits })
  async identify(traits: UserTraits, request?: AnalyticsRequest): Promise<UserTraits> {
    return { ...traits, ip: request?.ip };
  }

  @Page<Shop['page']>(({ args: [{ event }] }) => event)
  @Screen<Shop['page']>(({ args: [{ event }] }) => event)
  page(params: TrackParams, analytics?: AnalyticsService, recorder?: AnalyticsRecorder): void {}

  @Group<Shop['group']>({ groupId: ({ args: [{ destination }] }) => destination })
  @Alias<Shop['group']>({ previousId: ({ result }) => result?.message })
  group(event: DeliveryEvent, context?: typeof AnalyticsContext): OptionsError | undefined {
    return undefined;
  }
}
\`\`\`
`;
    expect(await faultsOf(parsePage('docs/page.md', markdown('import type')))).toEqual([]);
    const faults = await faultsOf(parsePage('docs/page.md', markdown('import')));
    expect(faults).toEqual(faults.filter((fault) => fault.includes('TS1272')));
    expect(faults).toHaveLength(2);
  });
});
