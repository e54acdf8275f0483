import { VERSION } from '../client/version.js';
import { LAYOUT, migrationSql } from '../stores/postgres/postgres.migrations.js';
import { toPostgresOptions } from '../stores/postgres/postgres.options.js';
import { argumentFault, defineCommand } from './command.util.js';
import { optionFault } from './queue-options.util.js';

export const command = defineCommand({
  usage: `Usage: nestjs-analytics-relay sql [options]

Prints the SQL that creates the tables of postgresQueue(), for the migrations of the application. Run it in one
transaction, and set migrate: false. This command connects to nothing.

  --prefix <name>  schema of the tables; default: relay
  --help           show this help
`,
  options: { prefix: { type: 'string', default: 'relay' } },
  run: ({ prefix }) => {
    try {
      toPostgresOptions({ connection: 'postgres://127.0.0.1', prefix });
    } catch (error) {
      throw argumentFault(optionFault(error, 'prefix'));
    }
    process.stdout.write(`-- nestjs-analytics-relay ${VERSION}, layout ${LAYOUT}\n${migrationSql(prefix)}\n`);
    return Promise.resolve();
  },
});
