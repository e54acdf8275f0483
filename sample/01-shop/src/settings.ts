import { join } from 'node:path';

import { ConfigModule, type ConfigService } from '@nestjs/config';

/** Reads `.env`, wherever the sample is started from. */
export const SettingsModule = ConfigModule.forRoot({
  isGlobal: true,
  envFilePath: join(import.meta.dirname, '../.env'),
});

export const webhookUrl = (config: ConfigService): string =>
  `http://localhost:${config.getOrThrow<string>('RECEIVER_PORT')}/webhooks`;

/** The file that accepted events wait in. */
export const databasePath = (config: ConfigService): string =>
  config.get('DATABASE_PATH') ?? join(import.meta.dirname, '../data/relay.db');
