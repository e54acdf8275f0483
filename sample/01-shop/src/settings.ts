import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { ConfigModule, type ConfigService } from '@nestjs/config';

/** Reads `.env`, wherever the sample is started from. */
export const SettingsModule = ConfigModule.forRoot({
  isGlobal: true,
  envFilePath: join(import.meta.dirname, '../.env'),
});

export const webhookUrl = (config: ConfigService): string =>
  `http://localhost:${config.getOrThrow<string>('RECEIVER_PORT')}/webhooks`;

const tokenOfThisRun = randomBytes(24).toString('base64url');

/** What one signs in to the dashboard with. A deployed application has one that stays, from its secrets. */
export const adminToken = (config: ConfigService): string => config.get('ADMIN_TOKEN') ?? tokenOfThisRun;

/** The file that accepted events wait in. */
export const databasePath = (config: ConfigService): string =>
  config.get('DATABASE_PATH') ?? join(import.meta.dirname, '../data/relay.db');
