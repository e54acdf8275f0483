import js from '@eslint/js';
import tseslint from 'typescript-eslint';

import { findPhrase } from './scripts/phrases.mjs';

/** What each folder of lib/ may not import: the table of ARCHITECTURE.md. */
const relay = 'lib/webhook-destination';
const stores = '/stores/|/queue/store/';
const collecting = '(analytics|cli|testing)/';
/** Nothing in lib/ imports the dashboard: it is in the generated module. */
const dashboard = {
  regex: '\\./(dashboard/(?!dashboard)|portal/(pages|shell|words)/)',
  message: 'The browser applications are built into modules of their own.',
};
/** Components of the dashboard that the portal has its own of. */
const WITH_WORDS = 'button|copy-button|dialog|json-view|kept-answer|problem|state-badge|table|time';
const borders = [
  mayNotImport('lib/client/*', '\\.\\./', 'lib/client does not know the other folders.', nodeAlone()),
  clientStep('message', 'event|pipeline|delivery'),
  clientStep('event', 'pipeline|delivery'),
  clientStep('pipeline', 'delivery'),
  clientStep('delivery', 'pipeline'),
  clientStep('telemetry', 'pipeline|delivery'),
  mayNotImport(
    'lib/common/**/*',
    `/(analytics|cli|testing|webhook-destination)/`,
    'lib/common knows none of the folders that use it.',
  ),
  mayNotImport(
    'lib/schematics/**/*',
    '^\\.\\./|^@angular-devkit',
    'A schematic runs in the command line, and knows neither the package nor what the command line is made of.',
  ),
  {
    files: ['dashboard/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex:
                '/webhook-destination/(?!admin/|observe/|queue/|message\\.explainer\\.|registry/)|/lib/(?!webhook-destination/)',
              message: 'The dashboard knows the admin API alone.',
            },
            {
              regex: '/webhook-destination/',
              allowTypeImports: true,
              message: 'The dashboard runs in browsers: of the admin API it takes types only.',
            },
            {
              regex: '^(?!\\.|preact|@preact/signals$|uplot)',
              message: 'All of this is in the bundle: see its budgets.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['portal/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: '/lib/', message: "The portal knows the portal's API alone." },
            {
              regex:
                '/dashboard/(?!api/|components/|shell/(hash\\.router|heading\\.focus)\\.|pages/page\\.interface\\.)',
              message: "What is the operators' stays in the dashboard.",
            },
            {
              regex: `/dashboard/components/(${WITH_WORDS})\\.`,
              message: 'It has words or the session of the dashboard: see portal/README.md.',
            },
            { regex: '^(?!\\.|preact|@preact/signals$)', message: 'All of this is in the bundle: see its budgets.' },
          ],
        },
      ],
      'no-restricted-syntax': [
        'error',
        ...[
          'JSXText[value=/\\p{L}/u]',
          'JSXAttribute[name.name=/^(aria-label|label|title|placeholder|hint|alt)$/] > Literal[value=/\\p{L}{2}/u]',
        ].map((selector) => ({ selector, message: 'Texts are in portal/words/.' })),
      ],
    },
  },
  mayNotImport(
    'lib/opentelemetry/**/*',
    '/(analytics|cli|testing|webhook-destination)/',
    'What makes spans knows the port alone, not what it follows.',
  ),
  mayNotImport(
    'lib/terminus/**/*',
    '/(analytics|cli|testing)/|/webhook-destination/(?!observe/relay-health\\.|webhook-destination\\.tokens\\.)',
    'A health indicator asks the relay for its health, not its parts.',
  ),
  mayNotImport(
    'lib/cli/**/*',
    '/analytics/|/testing/|/webhook-destination/(?!admin/mcp/|queue/|receiver/)',
    'A command knows the queue, the signatures, the tools and the event classes, not the application.',
  ),
  mayNotImport(
    'lib/testing/**/*',
    '/webhook-destination/|^(@jest/|jest|vitest|chai|mocha|sinon|node:test)',
    'lib/testing works with every test framework, and without forwarding.',
  ),
  mayNotImport(
    'lib/analytics/**/*',
    '/testing/|/cli/|/webhook-destination/(?!ingest/in-process-ingest\\.interface)',
    'Collecting does not know how messages are forwarded.',
  ),
  step(
    'http',
    '^\\.\\./(?!\\.\\./(client/(error\\.(codes|util)|relay\\.error)\\.|common/))',
    'The HTTP kit knows neither messages nor queues, and none of the other folders of the relay.',
  ),
  step('ingest', `/(admin|dispatch|portal|receiver|transport)/|${stores}`, 'Ingest does not know where messages go.'),
  step(
    'routing',
    '/(admin|dispatch|ingest|observe|portal|receiver|stores|transport)/|/queue/(?!delivery\\.interface)',
    'Routing does not know how a delivery is queued or sent.',
  ),
  step(
    'queue',
    '/(admin|dispatch|http|ingest|observe|portal|receiver|registry|routing|stores|transport)/',
    'The queue knows neither its stores nor what a delivery is sent with.',
  ),
  ...['memory', 'postgres', 'redis', 'sqlite'].map((store) =>
    mayNotImport(
      `lib/stores/${store}/**/*`,
      '/(analytics|cli|testing)/|/webhook-destination/(?!queue/)|^\\.\\./(?!shared/|\\.\\./)',
      'A store knows the queue, and no other store.',
    ),
  ),
  mayNotImport(
    'lib/stores/redis/redis*',
    '/(analytics|cli|testing)/|/webhook-destination/(?!queue/)|^\\.\\./(?!shared/|\\.\\./)|^\\./(bullmq|job|retention)|^bullmq$',
    'What is kept beside BullMQ in Redis does not depend on BullMQ.',
  ),
  mayNotImport(
    'lib/stores/shared/**/*',
    '/(analytics|cli|testing)/|/webhook-destination/(?!queue/)|^\\.\\./(?!\\.\\./)',
    'What stores have in common knows none of them.',
  ),
  step('dispatch', `/(admin|ingest|portal)/|${stores}`, 'Dispatch does not know how the queue stores.'),
  step(
    'transport',
    '/(admin|dispatch|http|ingest|observe|portal|queue|receiver|registry|routing|stores)/',
    'What connects to receivers does not know what is delivered.',
  ),
  step('registry', `/(admin|observe|portal)/|${stores}`, 'The registry does not know how its entries are stored.'),
  step(
    'observe',
    `/(admin|portal|receiver|registry|routing)/|/dispatch/(?!delivery-event\\.)|${stores}`,
    'What counts does not know what it is shown by, nor how deliveries are sent or stored.',
  ),
  step('receiver', '^\\.\\./(?!\\.\\./common/)', 'Receivers verify signatures without the rest of the package.'),
  step(
    'portal',
    `/admin/|/dispatch/(?!destination\\.options\\.|request-limit\\.|delivery-event\\.|pause\\.util\\.)|/transport/|/ingest/(?!accepted-message\\.|parsed-message\\.)|${stores}`,
    'The portal shows and changes what the registry and the queue have, and knows neither operators nor how deliveries are sent.',
  ),
  step(
    'admin',
    `/dispatch/(?!delivery-event\\.)|/transport/|/ingest/(?!ingest\\.result\\.)|/portal/(?!portal\\.links\\.)|${stores}`,
    'Administration does not know how messages are accepted, nor how deliveries are sent or stored.',
  ),
];

/** No import that matches `regex`, in files that match `files` without their extension. */
function mayNotImport(files, regex, message, ...others) {
  return {
    files: [`${files}.ts`, `${files}.cts`],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex, message }, ...others, dashboard] }] },
  };
}

/** A folder of lib/client, and the folders beside it that it does not know. */
function clientStep(folder, others) {
  const message = `lib/client/${folder} does not know ${others.replaceAll('|', ', ')}, nor the other folders of lib/.`;
  return mayNotImport(`lib/client/${folder}/**/*`, `\\.\\./(\\.\\.|${others})/`, message, nodeAlone());
}

function nodeAlone() {
  return { regex: '^(?!\\.|node:)', message: 'lib/client has no dependency: only Node itself and its own files.' };
}

/** A folder of forwarding: it does not know how events are collected, nor the module that composes the steps. */
function step(folder, regex, message) {
  return mayNotImport(`${relay}/${folder}/**/*`, regex, message, {
    regex: `/${collecting}|\\.\\./(webhook-destination|index)\\.`,
    message: 'A step of forwarding does not know how events are collected, nor its module.',
  });
}

/** Members that Node, Nest, Fastify and BullMQ keep for themselves; their next release may change them. */
const PRIVATE_MEMBERS = [
  // Node
  '_httpMessage|_handle|_events|_header|_headers|_implicitHeader|_read|_write|_readableState|_writableState|_server',
  // Nest: the wrappers of providers and the container
  'instanceWrapper|instanceLinksHost|_instances|_providers|_injectables|_controllers',
  // Fastify and Express
  'kReply|kRequest|_router',
  // BullMQ
  '_client|_jobScheduler|_repeat|blockingConnection|processJob|nextJobFromJobData|scripts',
  // ... what runs its scripts, and the names and hashes of its keys
  'execCommand|runCommand|moveToFinishedKeys|toKey|hgetall|hget|bzpopmin',
].join('|');

const prose = {
  rules: {
    'no-phrase': {
      create(context) {
        const check = (node, text) => {
          const found = findPhrase(text);
          if (found)
            context.report({ loc: node.loc, message: `Write "${found}" in other words: see CONTRIBUTING.md.` });
        };
        return {
          Program: () => context.sourceCode.getAllComments().forEach((comment) => check(comment, comment.value)),
          Literal: (node) => typeof node.value === 'string' && check(node, node.value),
          TemplateElement: (node) => check(node, node.value.raw),
        };
      },
    },
  },
};

const PRIVATE = [
  `MemberExpression[computed=false][property.name=/^(${PRIVATE_MEMBERS})$/]`,
  `MemberExpression[computed=true][property.value=/^(${PRIVATE_MEMBERS})$/]`,
  `ObjectPattern > Property[key.name=/^(${PRIVATE_MEMBERS})$/]`,
  `TSPropertySignature[key.name=/^(${PRIVATE_MEMBERS})$/]`,
  // Of Nest's wrapper of a provider, which `DiscoveryService` gives out to be read.
  'AssignmentExpression > MemberExpression.left[property.name=/^(metatype|inject|scope|token)$/]',
].map((selector) => ({ selector, message: 'A private member of a dependency: its next release may change it.' }));

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      '**/node_modules/',
      'coverage/',
      'bin/',
      'client-package/',
      'site/src/',
      'test/packed/added/',
      'test/bundled/app/',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  {
    // Expectations hold matchers, which are any, and look at methods without calling them.
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-unsafe-assignment': 'off', '@typescript-eslint/unbound-method': 'off' },
  },
  {
    // What bench/versus imports is installed only to run it, which checks its types.
    files: ['**/*.mjs', 'bench/versus/**/*.ts', 'portal/verify/*.js'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      ...tseslint.configs.disableTypeChecked.languageOptions,
      globals: { process: 'readonly', console: 'readonly', URL: 'readonly', Buffer: 'readonly' },
    },
  },
  {
    files: ['{lib,dashboard,portal,test,bench}/**/*.{ts,tsx,cts}'],
    plugins: { prose },
    rules: { 'prose/no-phrase': 'error' },
  },
  {
    files: ['lib/**/*.{ts,cts}'],
    rules: { 'no-restricted-syntax': ['error', ...PRIVATE] },
  },
  {
    files: ['lib/**/*.ts', 'lib/**/*.cts'],
    ignores: ['lib/common/line.logger.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...PRIVATE,
        // Ids, names and errors come from outside: a line of the log is escaped in one place.
        { selector: "ImportSpecifier[imported.name='Logger']", message: 'Log with LineLogger of lib/common.' },
      ],
    },
  },
  ...borders,
);
