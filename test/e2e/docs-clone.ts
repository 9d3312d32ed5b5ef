// A clone of a repository with a queue, in which the commands of a page are followed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { createPlainWorld } from '../contract/plain-repository.ts';
import { SLUICE_BIN } from '../helpers/sluice-command.ts';
import { makeFolder, type TestServer, until } from './harness.ts';
import { sluice } from './kept-sluice.ts';

/** Commands that no test can run as they stand. */
const NOT_RUN: readonly (readonly [command: RegExp, why: string])[] = [
  [/^cd \/path\/to\/sluice && npm link/, 'changes the PATH of the machine'],
  [/^alias sluice=/, 'is for an interactive shell'],
  [/^(?:sluice|npm run) demo/, 'takes 20 s; readme.test.ts and the tests of the demo run it'],
  [/^sluice serve$|npm start$/, 'serves until it is stopped; readme.test.ts starts it'],
  [/^sluice (?:forge setup github|github setup)/, 'needs a browser; github-setup.test.ts runs it'],
  [/^sluice forge setup gitea/, 'needs a Gitea; forge-gitea-setup.test.ts runs it'],
  [/^sluice forge setup gitlab/, 'needs a GitLab; test/gitlab/queue.test.ts runs it'],
  [/^sluice (?:(?:forge|github) check|repo add (?:github|git\.acme))/, 'needs a forge; github-docs.test.ts runs it'],
  [/^sluice events (?:-f|--follow)/, 'goes on until it is stopped'],
  [/^systemctl|^(?:mv|cp) \/var\/lib\/sluice/, 'changes the installation'],
  [
    /^useradd|^userdel|^rm -r|^npm uninstall|^cp "\$\(npm root|^install --mode|^echo "SLUICE_URL|^mkdir -p \/etc/,
    'changes the installation',
  ],
  [/^(?:buildah|podman|docker|kubectl|helm) |^cd deploy\/compose|^printf 'POSTGRES/, 'needs an engine or a cluster'],
  [/^pg_restore/, 'needs a PostgreSQL of its own; disaster.test.ts restores one'],
  [/^sluice move/, 'needs a PostgreSQL; move.test.ts runs it'],
  [/^npm run check:deploy/, 'takes minutes and other programs'],
  [/^npm install|^npx|^sha256sum|^npm run release -- --draft/, 'installs a package; packages.test.ts does'],
  [
    /^npm (?:version|run freeze|test|run release)|^createdb|^git commit --all/,
    'makes a release; packages.test.ts makes a draft',
  ],
  [/^sluice simulate --data/, 'needs a week of a queue; stored-history.test.ts reads one'],
  [/^trunk-analytics-cli/, 'is another program; docs-existing-clients.test.ts sends what it sends'],
  [/completion (?:zsh|fish)/, 'needs that shell; cli-help.test.ts reads the script'],
];
/** Takes long enough to be restarted and cancelled while it runs. */
const CHECK = 'if [ -e slow ]; then sleep 100; fi; test ! -e broken';
const ADA = { GIT_AUTHOR_NAME: 'Ada', GIT_COMMITTER_NAME: 'Ada', EMAIL: 'ada@acme.test' };

/** The commands of the list that no page has shown yet. */
export const unused = new Set(NOT_RUN.map(([command]) => command));
/** The statements that were run or skipped, by their beginning. */
export const followed = new Set<string>();

export interface Clone {
  readonly folder: string;
  /** Runs a script in it. */
  run(script: string): Promise<string>;
  /** Runs the statements of a page for the repository of this clone, with these replacements. */
  follow(script: string, replacements?: Readonly<Record<string, string>>): Promise<string>;
  untilState(state: string): Promise<unknown>;
}

/** A registered repository with a queue, and a clone of it with pull request 7. */
export async function openClone(
  server: TestServer,
  t: TestContext,
  { name, files = {} }: { readonly name: string; readonly files?: Readonly<Record<string, string>> },
): Promise<Clone> {
  const { api, env, url, dataFolder } = server;
  const repo = { host: 'local', owner: 'acme', name };
  const git = await createPlainWorld();
  t.after(() => git.close());
  for (const branch of ['main', 'release']) await git.commit(branch, { files: { 'a.txt': 'a\n' }, message: 'Begin' });
  await api.ok('registerRepository', { repo, git: git.path, checks: [{ name: 'test', command: CHECK }] });
  await api.ok('createQueue', { repo, targetBranch: 'main' });
  const folder = join(await makeFolder(), 'clone');
  await promisify(execFile)('git', ['clone', '--quiet', git.path, folder]);
  const run = async (script: string) => {
    const command = `sluice() { '${process.execPath}' '${SLUICE_BIN}' "$@"; }\n`;
    const places = { PATH: process.env['PATH'], HOME: dataFolder, SLUICE_DATA: dataFolder };
    const given = ['--norc', '-euo', 'pipefail', '-c', `exec 2>&1\n${command}${script}`];
    const options = { cwd: folder, env: { ...places, ...env, ...ADA, BUILD_URL: 'https://ci.acme.dev/1' } };
    return (await promisify(execFile)('bash', given, options)).stdout;
  };
  const follow: Clone['follow'] = async (script, replacements = {}) => {
    const own = { 'local/acme/app': `local/acme/${name}`, 'github.com/acme/app': `local/acme/${name}` };
    const places = { '/srv/git/app.git': git.path, '/var/backups/': `${folder}/`, '/etc/prometheus/': `${folder}/` };
    const every = Object.entries({ ...replacements, ...own, ...places, 'https://sluice.acme.dev': url });
    let text = '';
    for (const shown of listStatements(script)) {
      const skipped = NOT_RUN.find(([command]) => command.test(shown))?.[0];
      unused.delete(skipped as RegExp);
      followed.add(beginningOf(shown));
      const statement = every.reduce((so, [from, to]) => so.replaceAll(from, to), shown);
      if (skipped === undefined) text += await runStatement(statement, { server, cwd: folder, run });
    }
    return text;
  };
  const change = { 'change.txt': 'x\n', 'targets.txt': 'app\n', ...files };
  for (const [file, content] of Object.entries(change)) await writeFile(join(folder, file), content);
  await run('git switch -c change && git add . && git commit -m "A change" && git push origin HEAD:refs/pull/7/head');
  const untilState = (state: string) =>
    until(`#7 is ${state}`, 60_000, async () => {
      const entry = { repo, targetBranch: 'main', pr: { number: 7 } };
      const now = (await api.ok<{ state: string }>('getSubmittedPullRequest', entry)).state;
      return now === state ? true : undefined;
    });
  return { folder, run, follow, untilState };
}

const WORD = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g;

/** Lines without comments, each with those that a backslash or a quote continues. */
export function listStatements(script: string): string[] {
  const statements: string[] = [];
  let open = '';
  for (const line of script.replaceAll('\\\n', ' ').split('\n')) {
    const whole = open + line;
    const comment = [...whole.matchAll(WORD)].find(([word]) => word.startsWith('#'));
    const statement = whole.slice(0, comment?.index).trim();
    open = statement.split("'").length % 2 === 0 ? `${statement}\n` : '';
    if (open === '' && statement !== '') statements.push(statement);
  }
  return statements;
}

/** Some are changed before they run, at their end. */
export function beginningOf(statement: string): string {
  const words = [...statement.matchAll(WORD)].map(([word]) => word);
  return words
    .filter((word) => !word.startsWith('-'))
    .slice(0, 3)
    .join(' ');
}

/** The kept command is ten times as fast as a process; a statement with more than words needs a shell. */
async function runStatement(
  statement: string,
  { server, cwd, run }: { readonly server: TestServer; readonly cwd: string; readonly run: Clone['run'] },
): Promise<string> {
  const words = [...statement.matchAll(WORD)].map(([word]) => word);
  const isPlain = words[0] === 'sluice' && !/[$<>|;&()`]/.test(statement.replaceAll(/'[^']*'/g, ''));
  if (!isPlain) return run(statement);
  const { dataFolder, env } = server;
  const places = { HOME: dataFolder, SLUICE_DATA: dataFolder };
  const args = words.slice(1).map((word) => word.replaceAll(/['"]/g, ''));
  const { code, out, err } = await sluice(args, { cwd, env: { ...env, ...places } });
  assert.equal(code, 0, `${statement}: ${err}${out}`);
  return out + err;
}
