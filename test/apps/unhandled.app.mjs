// Ends with what a decorated method rejected with, and nobody handled.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AnalyticsModule, Track } from 'nestjs-analytics-relay';

class Payments {
  async charge() {
    throw new Error('nobody handles this');
  }
}
const charge = Object.getOwnPropertyDescriptor(Payments.prototype, 'charge');
Track('Charged', { userId: 'u1' })(Payments.prototype, 'charge', charge);
Object.defineProperty(Payments.prototype, 'charge', charge);

class AppModule {}
Module({ imports: [AnalyticsModule.forRoot({ writeKey: 'k', disable: true })], providers: [Payments] })(AppModule);

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
void app.get(Payments).charge();
