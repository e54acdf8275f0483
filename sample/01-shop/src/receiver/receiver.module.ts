import { Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { WEBHOOK_SECRET } from 'nestjs-analytics-relay';

import { SettingsModule } from '../settings.js';
import { ReceiverController } from './receiver.controller.js';

@Module({
  imports: [SettingsModule],
  controllers: [ReceiverController],
  providers: [
    {
      provide: WEBHOOK_SECRET,
      useFactory: (config: ConfigService) => config.getOrThrow<string>('WEBHOOK_SECRET'),
      inject: [ConfigService],
    },
  ],
})
export class ReceiverModule {}
