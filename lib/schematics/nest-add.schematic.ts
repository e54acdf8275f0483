import { posix } from 'node:path';

import { addShutdownHooks, addToImports, rootModuleOf } from './module.editor.js';
import { loadTypeScript } from './source.editor.js';

const CLASS_VALIDATOR = '^0.15.1';

const MODULE = 'ProductAnalyticsModule';

const MODULE_FILE = 'product-analytics.module';

/** In the format of `nest new`, whose linter checks it. */
const MODULE_SOURCE = `import { randomUUID } from 'node:crypto';

import { Module } from '@nestjs/common';
import {
  AnalyticsModule,
  memoryQueue,
  sqliteQueue,
  WebhookDestinationModule,
} from 'nestjs-analytics-relay';

// Known to nobody else: without ANALYTICS_WRITE_KEY, only this process can record events.
const ownKey = \`wk_\${randomUUID()}\`;

// Called by the factories below, which run after ConfigModule has loaded .env.
const writeKey = () => process.env.ANALYTICS_WRITE_KEY || ownKey;

@Module({
  imports: [
    AnalyticsModule.forRootAsync({
      useFactory: () => ({ writeKey: writeKey() }),
    }),
    WebhookDestinationModule.forRootAsync({
      useFactory: () => {
        const url = process.env.WEBHOOK_URL;
        const sharedSecret = process.env.WEBHOOK_SECRET;
        const networks = process.env.WEBHOOK_ALLOWED_NETWORKS ?? '';
        const token = process.env.ADMIN_TOKEN;
        const isTest = process.env.NODE_ENV === 'test';
        return {
          sources: [{ name: 'app', writeKey: writeKey() }],
          // Without a URL, and in tests, events are accepted but not delivered.
          destinations: url && !isTest ? [{ urls: [url], sharedSecret }] : [],
          // By default, webhooks go to public addresses only.
          delivery: {
            allowedNetworks: networks.split(/[ ,]+/).filter(Boolean),
          },
          // Only one process can open the file, ./data/relay.db.
          queue: isTest ? memoryQueue() : sqliteQueue(),
          // The dashboard at /relay; disabled without a token.
          admin: token ? { token } : undefined,
        };
      },
    }),
  ],
})
export class ${MODULE} {}
`;

const ENVIRONMENT = `# Settings of nestjs-analytics-relay. To change them: cp .env.example .env, and edit .env. ConfigModule loads it.
# Without ConfigModule, start with: npx nest start --env-file .env

# Write key for other services and browsers that post to /v1, from: echo "wk_$(openssl rand -hex 16)"
# Without one, only this application can record events.
ANALYTICS_WRITE_KEY=
# URL that receives the events as signed webhooks
WEBHOOK_URL=
# Private addresses that the webhooks may reach, such as: localhost,10.0.0.0/8
WEBHOOK_ALLOWED_NETWORKS=
# Secret that signs the webhooks, from: echo "whsec_$(openssl rand -base64 32)"
WEBHOOK_SECRET=
# Token for signing in to the dashboard at /relay, at least 24 characters, from: openssl rand -hex 32
ADMIN_TOKEN=
`;

const NEXT_STEP =
  'To change the settings: cp .env.example .env, and edit .env. ConfigModule loads it. Without ConfigModule, start ' +
  'with: npx nest start --env-file .env';

/** Lock files, and the package manager of each. */
const LOCK_FILES = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn', 'bun.lock': 'bun', 'package-lock.json': 'npm' };

/** Options of the schematic. */
export interface NestAddOptions {
  /** Folder of the application's sources. */
  sourceRoot?: string;
  /** Whether to add class-validator, for events declared as classes. */
  typedEvents?: boolean;
  /** Whether to skip installing packages. */
  skipInstall?: boolean;
}

// The part of Angular's schematics that is used. They belong to the command line, so an application may not have them.

/** The files of a workspace. With `--dry-run`, changes are shown but not written. */
interface Tree {
  read(path: string): Buffer | null;
  exists(path: string): boolean;
  create(path: string, content: string): void;
  overwrite(path: string, content: string): void;
}

interface SchematicContext {
  logger: { info(message: string): void; warn(message: string): void };
  /** Schedules a task to run once all files are written. */
  addTask(task: { toConfiguration(): { name: string; options: object } }): unknown;
}

type Rule = (tree: Tree, context: SchematicContext) => void;

/** Implements `nest add nestjs-analytics-relay`. Existing code stays as it is, so the command can be run again. */
export function nestAdd({ sourceRoot = 'src', typedEvents = false, skipInstall = false }: NestAddOptions): Rule {
  return (tree, context) => {
    addModule(tree, context, sourceRoot);
    addLines(tree, '.env.example', ENVIRONMENT, /^[#\s]*ANALYTICS_WRITE_KEY\s*=/m);
    addLines(tree, '.gitignore', '# The queue of nestjs-analytics-relay\n/data/\n', /^\s*\/?data\/?\s*$/m);
    if (typedEvents && addClassValidator(tree) && !skipInstall) install(tree, context);
    context.logger.info(NEXT_STEP);
  };
}

function addModule(tree: Tree, context: SchematicContext, sourceRoot: string): void {
  const typescript = loadTypeScript();
  const main = posix.join(sourceRoot, 'main.ts');
  const text = tree.read(main)?.toString();
  if (text === undefined) throw new Error(`${main} was not found`);
  const root = rootModuleOf(typescript, main, text);
  const folder = posix.join(sourceRoot, posix.dirname(root?.specifier ?? '.'));
  const moduleFile = posix.join(folder, `${MODULE_FILE}.ts`);
  if (!tree.exists(moduleFile)) tree.create(moduleFile, MODULE_SOURCE);
  const task = `add ${MODULE} of ${moduleFile} to the imports of the root module`;
  if (root) {
    const rootFile = posix.join(sourceRoot, `${root.specifier}.ts`);
    const added = { name: MODULE, specifier: `./${MODULE_FILE}${root.extension}` };
    edit(tree, context, rootFile, task, (source) => addToImports(typescript, rootFile, source, root.name, added));
  } else {
    context.logger.warn(`The file of the root module was not recognised in ${main}. Do this by hand: ${task}`);
  }
  edit(tree, context, main, 'call app.enableShutdownHooks(), so queued events are delivered at shutdown', (source) =>
    addShutdownHooks(typescript, main, source),
  );
}

/** Changes a file, or logs what to do by hand. */
function edit(
  tree: Tree,
  { logger }: SchematicContext,
  path: string,
  task: string,
  change: (text: string) => string | undefined,
): void {
  const text = tree.read(path)?.toString() ?? '';
  const changed = change(text);
  if (changed === undefined) logger.warn(`${path} was not changed. Do this by hand: ${task}`);
  else if (changed !== text) tree.overwrite(path, changed);
}

/** Adds lines to a file, unless one of its lines matches. */
function addLines(tree: Tree, path: string, lines: string, present: RegExp): void {
  const text = tree.read(path)?.toString();
  if (text === undefined) tree.create(path, lines);
  else if (!present.test(text))
    tree.overwrite(path, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}\n${lines}`);
}

/** Returns whether the application lacked it. */
function addClassValidator(tree: Tree): boolean {
  const text = tree.read('package.json')!.toString();
  const manifest = JSON.parse(text) as { dependencies?: Record<string, string> };
  if (manifest.dependencies?.['class-validator']) return false;
  const dependencies = { ...manifest.dependencies, 'class-validator': CLASS_VALIDATOR };
  const sorted = Object.fromEntries(Object.entries(dependencies).sort(([one], [other]) => (one < other ? -1 : 1)));
  const indent = /^[ \t]+/m.exec(text)?.[0] ?? '  ';
  tree.overwrite('package.json', `${JSON.stringify({ ...manifest, dependencies: sorted }, undefined, indent)}\n`);
  return true;
}

function install(tree: Tree, context: SchematicContext): void {
  const packageManager = Object.entries(LOCK_FILES).find(([file]) => tree.exists(file))?.[1];
  const options = { command: 'install', quiet: true, hideOutput: true, packageManager };
  context.addTask({ toConfiguration: () => ({ name: 'node-package', options }) });
}
