import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Imports that a folder of lib/ may not have: which step of the way may not know which other. */
const mayNotImport = (files, patterns) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns }] },
});

const nodeOnly = {
  regex: '^(?!\\.|node:)',
  message: 'lib/client has no dependency: only Node itself and its own files.',
};
/** A folder of lib/client, and the folders beside it that it may not import. */
const clientStep = (folder, others) =>
  mayNotImport(
    [`lib/client/${folder}/*.ts`],
    [
      nodeOnly,
      leavesClient(['../../**']),
      { group: others.map((other) => `../${other}/**`), message: `lib/client/${folder} knows nothing of ${others}.` },
    ],
  );
const leavesClient = (group) => ({ group, message: 'lib/client knows nothing of the other folders.' });

export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', 'coverage/', 'bin/', 'test/packed/added/', 'test/bundled/app/'] },
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
    files: ['**/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      ...tseslint.configs.disableTypeChecked.languageOptions,
      globals: { process: 'readonly', console: 'readonly', URL: 'readonly', Buffer: 'readonly' },
    },
  },
  {
    // Ids, names and errors come from outside: a line of the log is escaped in one place.
    files: ['lib/**/*.ts'],
    ignores: ['lib/common/line.logger.ts', 'lib/cli/main.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: "ImportSpecifier[imported.name='Logger']", message: 'Log with LineLogger of lib/common.' },
      ],
    },
  },
  mayNotImport(['lib/client/*.ts'], [nodeOnly, leavesClient(['../**'])]),
  clientStep('message', ['event', 'pipeline', 'delivery']),
  clientStep('event', ['pipeline', 'delivery']),
  clientStep('pipeline', ['delivery']),
  clientStep('delivery', ['pipeline']),
  mayNotImport(
    ['lib/webhook-destination/**/*.ts'],
    [{ group: ['**/analytics/**'], message: 'Forwarding knows nothing of how events are collected.' }],
  ),
);
