import { Module } from '@nestjs/common';

import { ReceiverController } from './receiver.controller.js';

@Module({ controllers: [ReceiverController] })
export class ReceiverModule {}
