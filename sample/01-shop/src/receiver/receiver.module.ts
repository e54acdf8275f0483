import { Module } from '@nestjs/common';

import { SettingsModule } from '../settings.js';
import { ReceiverController } from './receiver.controller.js';

@Module({ imports: [SettingsModule], controllers: [ReceiverController] })
export class ReceiverModule {}
