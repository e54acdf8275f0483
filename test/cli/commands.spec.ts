import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { runCommand, spawnCommand } from '../support/command.js';

const COMMANDS = ['plan', 'stats', 'dead', 'replay', 'backup', 'migrate', 'listen', 'mcp'];
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe('The command line', () => {
  it('prints its version and its help, with exit code 0', async () => {
    expect(await spawnCommand('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    const help = await runCommand('--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const name of COMMANDS) expect(help.stdout).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
    expect(await runCommand('help')).toEqual(help);
    expect(await runCommand('-h')).toEqual(help);
    expect(await runCommand()).toEqual({ code: 1, stdout: '', stderr: help.stdout });
  });

  it.each(COMMANDS)('prints the options of %s, with exit code 0', async (name) => {
    const help = await spawnCommand(name, '--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(`Usage: nestjs-analytics-relay ${name} `);
    expect(await runCommand('help', name)).toEqual(help);
  });

  it('names an unknown command, and lists those that there are', async () => {
    const { code, stdout, stderr } = await runCommand('delivr');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Unknown command "delivr"\n/);
    for (const name of COMMANDS) expect(stderr).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect((await runCommand('help', 'delivr')).stderr).toBe(stderr);
    expect((await runCommand('--delivr')).stderr).toMatch('Unknown option "--delivr"');
  });

  it.each([
    [['plan', '--jsn'], 'plan: unknown option --jsn'],
    [['dead', '--limit', 'many'], 'dead: --limit must be a whole number from 1 to 999,999,999'],
    [['dead', '--limit', '1000000000'], 'dead: --limit must be a whole number from 1 to 999,999,999'],
    [['dead', '--destination'], 'dead: --destination needs a value'],
    [['dead', '--json=yes'], 'dead: --json takes no value'],
    [['dead', 'Webhooks'], 'dead: unexpected argument "Webhooks"'],
    [
      ['dead', '--store', 'localhost'],
      'dead: --store must be the URL of a Redis (redis://, rediss://) or a PostgreSQL',
    ],
    [['stats', '--from', 'nowhere.db'], 'stats: nowhere.db does not exist; set --from to the SQLite file'],
    [['stats', '--from', ''], 'stats: --from needs a value'],
    [['replay', '--destination', ''], 'replay: --destination needs a value'],
    [['stats', '--from', '/dev/null'], 'stats: /dev/null is empty; set --from to the SQLite file'],
    [['replay', '--all', '--from', '/dev/null'], 'replay: /dev/null is empty; set --from to the SQLite file'],
    [['stats', '--from', 'test'], 'stats: test is a folder; set --from to the SQLite file in it'],
    [['backup', '--out', 'x', '--from', 'test'], 'backup: test is a folder; set --from to the SQLite file in it'],
    [['stats', '--from', 'redis://h'], 'stats: --from must be a SQLite file; stats, dead and replay take the URL'],
    [['stats', '--from', 'a', '--store', 'redis://h'], 'stats: --from and --store cannot be combined'],
    [['stats', '--prefix', 'p'], 'stats: --prefix requires --store'],
    [['stats', '--store', 'redis://h/a'], 'stats: --store must be a Redis URL without a path, or with the number'],
    [['migrate', '--from', 'a', '--to', 'redis://h/a'], 'migrate: --to must be a Redis URL without a path'],
    [
      ['stats', '--store', 'redis://h', '--prefix', 'a:b'],
      'stats: --prefix must be a non-empty string without a colon',
    ],
    [['stats', '--store', 'postgres://h', '--prefix', '1a'], 'underscores, not starting with a digit'],
    [['replay'], 'replay: specify exactly one of: ids, --destination, --all'],
    [['replay', '17', '--all'], 'replay: specify exactly one of: ids, --destination, --all'],
    [['backup'], 'backup: --out <file> is required'],
    [['migrate', '--form', 'a'], 'migrate: unknown option --form'],
    [['listen', '--secret', 'whsec_a'], 'listen: the secret must not be empty; after whsec_, a secret must be base64'],
    [['listen', '--secret', ''], 'listen: the secret must not be empty'],
    [['listen', '--port', '65536'], 'listen: --port must be a port, 0 to 65535'],
    [['listen', '--status', '199'], 'listen: --status must be an HTTP status, 200 to 599'],
    [['listen', '--forward', 'localhost:3000'], 'listen: --forward must be the URL, http:// or https://'],
    [['listen', '--status', '503', '--forward', 'http://h'], 'listen: --status and --forward cannot be combined'],
    [['mcp', '--token', 't', '--url', 'localhost'], 'mcp: --url must be the URL of the dashboard'],
    [['mcp', '--token', 't', '--url', 'http://u:p@h'], 'mcp: --url must be the URL of the dashboard'],
    [['mcp', '--token', 'two words'], 'mcp: the token must be visible ASCII characters without spaces'],
    [['mcp'], 'mcp: --token, or ADMIN_TOKEN of the environment, must be a token of the admin API'],
  ])('names what is wrong with %j, and how to get help', async (args, fault) => {
    const { code, stdout, stderr } = await runCommand(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(fault);
    expect(stderr).toMatch(`See: nestjs-analytics-relay ${args[0]} --help`);
  });

  it('says why it cannot print', async () => {
    const script = `${process.execPath} bin/nestjs-analytics-relay.mjs --version > /dev/full`;
    const { stderr } = await promisify(execFile)('sh', ['-c', script]).catch((error: { stderr: string }) => error);
    expect(stderr).toMatch(/^standard output: ENOSPC/);
  });

  it.each([
    ['migrate', 'redis://user:s3cret@127.0.0.1:1'],
    ['migrate', '--too=redis://user:s3cret@127.0.0.1:1'],
    ['migrate', '--dead=redis://user:s3cret@127.0.0.1:1'],
    ['migrate', '--to', 'redis//user:s3cret@127.0.0.1:1'],
    ['stats', '--store', 'redis://user:s3cret@host:port'],
    ['stats', '--store', 'redis://user:s3cret@invalid.invalid:1'],
    ['stats', '--store', 'postgres://user:s3cret@127.0.0.1:1/test'],
    ['stats', '--store', 'postgres://user:s3cret%@127.0.0.1:1/test'],
    ['stats', '--from', 'redis://user:s3cret@127.0.0.1:1'],
    ['backup', '--from', 'package.json', '--out', 'redis://user:s3cret@127.0.0.1:1/copy.db'],
    ['plan', 'redis://user:s3cret@127.0.0.1:1'],
    ['plan', 'postgres://127.0.0.1:1/test?password=s3cret'],
    ['redis://user:s3cret@127.0.0.1:1'],
  ])('shows no password of a URL: %s %s', async (...args) => {
    const { code, stdout, stderr } = await runCommand(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).not.toBe('');
    expect(stderr).not.toMatch('s3cret');
  });
});
