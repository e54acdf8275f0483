// The module that `nest add` generates, as a process of its own. Its settings are set once it is imported, as by the
// ConfigModule of an application. It records one event.
import { NestFactory } from '@nestjs/core';
import { AnalyticsService } from 'nestjs-analytics-relay';

const [, , path, settings] = process.argv;
const { ProductAnalyticsModule } = await import(path);
Object.assign(process.env, JSON.parse(settings));
const app = await NestFactory.create(ProductAnalyticsModule, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
app.get(AnalyticsService).track({ userId: 'u1', event: 'Application Started' });
process.send(await app.getUrl());
