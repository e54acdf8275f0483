// Puts the owner of the repository in place of OWNER, wherever an address of it stands: node scripts/set-owner.mjs <owner>
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const [owner] = process.argv.slice(2);
if (!/^[a-z\d](?:[a-z\d-]{0,38})$/i.test(owner ?? '')) {
  process.stderr.write('Usage: node scripts/set-owner.mjs <owner>, the name of a GitHub user or organisation\n');
  process.exit(1);
}
const PLACE = 'github.com/OWNER/';
const files = execFileSync('git', ['grep', '-l', PLACE, '--', ':!scripts/set-owner.mjs'], { encoding: 'utf8' });
for (const file of files.trim().split('\n')) {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(PLACE, `github.com/${owner}/`));
  process.stdout.write(`${file}\n`);
}
