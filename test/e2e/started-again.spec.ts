import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { memoryQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

@Module({
  imports: [
    WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk' }],
      destinations: [{ enabled: false, urls: ['https://receiver.example/'] }],
      queue: memoryQueue(),
      admin: { token: 'token-of-the-administrator' },
    }),
  ],
})
class AppModule {}

describe('One module of an application', () => {
  it('can be started again, as suites do before each test', async () => {
    for (let start = 1; start <= 2; start++) {
      const testing = await Test.createTestingModule({ imports: [AppModule] }).compile();
      const app = testing.createNestApplication({ logger: false });
      app.setGlobalPrefix('api'); // so that Nest's own routes answer
      await app.listen(0, '127.0.0.1');
      const response = await fetch(`${await app.getUrl()}/api/v1/track`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa('wk:')}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ userId: 'u', event: 'E' }),
      });
      expect(response.status).toBe(200);
      await app.close();
    }
  });
});
