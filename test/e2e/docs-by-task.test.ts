// The commands on the pages by task work as shown, in a clone of a repository that has a queue.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseCommand } from '../../src/app/forge-events/commands/parse-command.ts';
import { SETTING_NAMES } from '../../src/engine/settings.ts';
import { createPlainWorld } from '../contract/plain-repository.ts';
import { makeFolder, until } from './harness.ts';
import { useServer } from './test-queue.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE = { timeout: 120_000 };
/** Takes long enough to be restarted and cancelled while it runs. */
const CHECK = 'if [ -e slow ]; then sleep 100; fi; test ! -e broken';

const world = useServer();

function read(page: string): string {
  return readFileSync(join(ROOT, 'docs', page), 'utf8');
}

/** The shell blocks below one heading, in order; without a heading, of the whole page. */
function shellBlocks(page: string, heading?: string): string {
  const parts = read(page).split(/^## /m);
  const isMeant = (part: string) => heading === undefined || part.replace('# ', '').startsWith(heading);
  const text = parts.filter(isMeant).join('');
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1]).join('');
  assert.notEqual(blocks, '', `${page} has commands below "${heading}"`);
  return blocks;
}

/** A registered repository with a queue, and a clone of it with pull request 7. */
async function openClone(t: TestContext, name: string, files: Readonly<Record<string, string>> = {}) {
  const { api } = world.server;
  const repo = { host: 'local', owner: 'acme', name };
  const git = await createPlainWorld();
  t.after(() => git.close());
  for (const branch of ['main', 'release']) await git.commit(branch, { files: { 'a.txt': 'a\n' }, message: 'Begin' });
  await api.ok('registerRepository', { repo, git: git.path, checks: [{ name: 'test', command: CHECK }] });
  await api.ok('createQueue', { repo, targetBranch: 'main' });
  const clone = join(await makeFolder(), 'clone');
  await promisify(execFile)('git', ['clone', '--quiet', git.path, clone]);
  const run = (script: string) => runIn(clone, `local/acme/${name}`, script);
  const change = { 'change.txt': 'x\n', 'targets.txt': 'app\n', ...files };
  for (const [file, text] of Object.entries(change)) await writeFile(join(clone, file), text);
  await run('git switch -c change && git add . && git commit -m "A change" && git push origin HEAD:refs/pull/7/head');
  const untilState = (state: string) =>
    until(`#7 is ${state}`, 60_000, async () => {
      const entry = { repo, targetBranch: 'main', pr: { number: 7 } };
      const now = (await api.ok<{ state: string }>('getSubmittedPullRequest', entry)).state;
      return now === state ? true : undefined;
    });
  return { run, untilState };
}

/** `tests` finds the repository by the name in its remote, which a path has not. */
async function runIn(cwd: string, repository: string, script: string): Promise<string> {
  const { url, dataFolder } = world.server;
  const command = `'${process.execPath}' '${ROOT}bin/sluice.mjs' "$@"`;
  const sluice = `sluice() { if [ "$1" = tests ]; then set -- "$@" --repo ${repository}; fi; ${command}; }\n`;
  const ada = { GIT_AUTHOR_NAME: 'Ada', GIT_COMMITTER_NAME: 'Ada', EMAIL: 'ada@acme.test' };
  const env = { PATH: process.env['PATH'], HOME: dataFolder, SLUICE_URL: url, SLUICE_DATA: dataFolder, ...ada };
  const given = ['--norc', '-euo', 'pipefail', '-c', `exec 2>&1\n${sluice}${script}`];
  return (await promisify(execFile)('bash', given, { cwd, env })).stdout;
}

describe('the pages by task', PATIENCE, () => {
  it('authors.md: submit, change your mind, follow', async (t) => {
    const { run, untilState } = await openClone(t, 'authors', { slow: 'yes' });
    assert.match(await run(shellBlocks('authors.md', 'Submit it')), /#7/);
    await untilState('TESTING');
    assert.match(await run(shellBlocks('authors.md', 'Change your mind')), /CANCELLED|cancelled|removed/);
    await run(shellBlocks('authors.md', 'In a parallel queue'));
    await run(shellBlocks('authors.md', 'A test fails at random'));
    await runInline('authors.md', run);
    await run('git rm slow && git commit -m "Hurry" && git push --force origin HEAD:refs/pull/7/head');
    const text = await run(`sluice pr submit 7\n${shellBlocks('authors.md', 'Follow it')}sluice pr status 7`);
    assert.match(text, /MERGED/);
  });

  it('removed.md: read why, try it as the queue did, submit again', async (t) => {
    const { run, untilState } = await openClone(t, 'removed', { broken: 'yes' });
    await run('sluice pr submit 7');
    await untilState('FAILED');
    const why = await run(shellBlocks('removed.md', 'My pull request was removed'));
    const [, testRun] = /sluice logs ([\w-]{36})/.exec(why) ?? assert.fail(why);
    await run(`TEST_RUN=${testRun}\n${shellBlocks('removed.md', 'Read the output of the check')}`);
    const [fetch = '', push = ''] = shellBlocks('removed.md', 'Try it as the queue did').split(/(?=^git push)/m);
    await run(`${fetch}git rm broken && git commit -m "Fix"\n${push}sluice watch --until-empty`);
    await untilState('MERGED');
  });

  it('first-week.md: each day', async (t) => {
    const { run } = await openClone(t, 'first-week');
    const text = await run(shellBlocks('first-week.md'));
    assert.match(text, /concurrency +3\b|MERGED/);
    await runInline('first-week.md', run);
  });

  it('coming-from.md: commands, comments and settings', async (t) => {
    const { run } = await openClone(t, 'app', { slow: 'yes' });
    await runInline('coming-from.md', run);
    assert.match(await run(shellBlocks('coming-from.md')), /testingTimeoutMinutes +60\n/);
    const page = read('coming-from.md');
    const comments = [...page.matchAll(/`(\/sluice [^`]+)`/g)].map((match) => match[1] as string);
    assert.ok(comments.length > 5);
    for (const comment of comments) assert.notEqual(parseCommand(comment)?.command.kind, 'unclear', comment);
    const settings = [...page.matchAll(/`([a-z]+[A-Z]\w+)`/g)].map((match) => match[1] as string);
    assert.ok(settings.length > 5);
    for (const name of settings) assert.ok((SETTING_NAMES as readonly string[]).includes(name), name);
  });
});

/** Runs commands that stand in a sentence or a table. One without arguments is only named there. */
async function runInline(page: string, run: (script: string) => Promise<string>): Promise<void> {
  const prose = read(page).replace(/^```.*?^```/gms, '');
  const commands = [...prose.matchAll(/`(sluice [^`]+)`/g)].map((match) => match[1] as string);
  const isOnlyNamed = (command: string) => /^sluice (?:queue (?:create|update)|pr status|upload)$/.test(command);
  assert.notEqual(commands.length, 0);
  const script = commands.map((command) => (isOnlyNamed(command) ? `${command} --help` : command)).join('\n');
  await run(script.replaceAll(/(?<=login )https:\S+/g, '"$SLUICE_URL" < "$SLUICE_DATA/admin-token"'));
}
