// The commands on the pages work as shown, in a clone of a repository that has a queue. One server runs them all.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { parseCommand } from '../../src/app/forge-events/commands/parse-command.ts';
import { traceIdOf } from '../../src/app/queue/entry-trace.ts';
import { SETTING_NAMES } from '../../src/engine/model/settings.ts';
import { inlineCommands, listPages, readPage, shellBlocks } from '../helpers/doc-pages.ts';
import { WebhookReceiver } from '../helpers/webhook-receiver.ts';
import { beginningOf, type Clone, followed, listStatements, openClone, unused } from './docs-clone.ts';
import { until } from './harness.ts';
import { useServer } from './test-queue.ts';

const UUID = /[\da-f]{8}-[\da-f-]{27}/;
const PATIENCE = { timeout: 120_000 };
const world = useServer({
  SLUICE_WEBHOOK_NETWORKS: '127.0.0.1',
  ...{ SLUICE_SMTP_URL: 'smtp://127.0.0.1:9', SLUICE_MAIL_FROM: 'sluice@acme.dev', SLUICE_SLACK_TOKEN: 'xoxb' },
});
const open = (t: TestContext, name: string, files: Readonly<Record<string, string>> = {}) =>
  openClone(world.server, t, { name, files });

const LOGIN = { 'login https://sluice.acme.dev': 'login "$SLUICE_URL" < "$SLUICE_DATA/admin-token"' };

describe('the commands of the pages by task work', PATIENCE, () => {
  it('authors.md: submit, change your mind, follow', async (t) => {
    const { run, follow, untilState } = await open(t, 'authors', { slow: 'yes' });
    const page = 'docs/authors.md';
    assert.match(await follow(shellBlocks(page, 'Submit it')), /#7/);
    await untilState('TESTING');
    assert.match(await follow(shellBlocks(page, 'Change your mind')), /CANCELLED|cancelled|removed/);
    await follow(shellBlocks(page, 'In a parallel queue'));
    await follow(shellBlocks(page, 'A test fails at random'));
    await follow(inlineCommands(page), LOGIN);
    await run('git rm slow && git commit -m "Hurry" && git push --force origin HEAD:refs/pull/7/head');
    assert.match(await follow(`sluice pr submit 7\n${shellBlocks(page, 'Follow it')}sluice pr status 7`), /MERGED/);
  });

  it('removed.md: read why, try it as the queue did, submit again', async (t) => {
    const { run, follow, untilState } = await open(t, 'removed', { broken: 'yes' });
    const page = 'docs/removed.md';
    await follow('sluice pr submit 7');
    await untilState('FAILED');
    const why = await follow(shellBlocks(page, 'My pull request was removed'));
    const [, testRun] = /sluice logs ([\w-]{36})/.exec(why) ?? assert.fail(why);
    await follow(shellBlocks(page, 'Read the output of the check'), { '"$TEST_RUN"': testRun as string });
    const [fetch = '', push = ''] = shellBlocks(page, 'Try it as the queue did').split(/(?=^git push)/m);
    await follow(fetch);
    await run('git rm broken && git commit -m "Fix"');
    await follow(`${push}sluice watch --until-empty`);
    await untilState('MERGED');
  });

  it('first-week.md: each day', async (t) => {
    const clone = await open(t, 'first-week');
    const { follow } = clone;
    await uploadResults(clone);
    assert.match(await follow(shellBlocks('docs/first-week.md')), /concurrency +3\b|MERGED/);
    await follow(inlineCommands('docs/first-week.md'));
  });

  it('adaptive.md: ask, switch, look', async (t) => {
    const { follow } = await open(t, 'adaptive');
    const told = await follow(shellBlocks('docs/adaptive.md'));
    assert.match(told, /Advice needs 30 [\s\S]*Nothing is known[\s\S]*optimizationMode +ADAPTIVE/);
  });

  it('time-travel.md: a pull request, a queue and an hour as they were', async (t) => {
    const { run, follow, untilState } = await open(t, 'time-travel', { slow: 'yes' });
    const page = 'docs/time-travel.md';
    const began = new Date().toISOString();
    await follow('sluice pr submit 7');
    await untilState('TESTING');
    const then = new Date().toISOString();
    const foretold = await follow(shellBlocks('docs/forecast.md'));
    assert.match(foretold, /Forecast\s+Not enough runs yet to say when it lands: 0 of 20\./);
    await run(`git rm -q slow && ${PUSH}`);
    await follow('sluice pr submit 7\nsluice watch --until-empty');
    const instants = {
      "'10:22'": then,
      '10:00 --until 11:00': began,
      '"name":"app"': '"name":"time-travel"',
    };
    const told = await follow(shellBlocks(page), instants);
    assert.match(told, /Being tested[\s\S]*#7 landed on main as [\s\S]*"asOf"[\s\S]*"moments":\[/);
  });

  it('stacks.md: a stack on plain git, changed and landed', async (t) => {
    const { run, follow } = await open(t, 'stacks');
    const page = 'docs/stacks.md';
    assert.match(await follow(shellBlocks(page, 'On plain git')), /Built on +#11[\s\S]*#12 Print tabs: MERGED/);
    assert.equal(await run('git fetch -q origin main && git show FETCH_HEAD:parser.txt'), 'tabs and blanks\n');
    assert.match(await follow(inlineCommands(page)), /#7 A change/);
  });

  it('agents.md: land, read the result, land again', async (t) => {
    const { run, follow } = await open(t, 'agents');
    const page = 'docs/agents.md';
    assert.match(await follow(shellBlocks(page)), /"outcome": ?"LANDED"/);
    for (const command of listStatements(inlineCommands(page))) {
      await run(PUSH);
      await follow(command);
    }
  });

  it('coming-from.md: commands, comments and settings', async (t) => {
    const { follow } = await open(t, 'coming-from', { slow: 'yes' });
    const page = 'docs/coming-from.md';
    await follow(inlineCommands(page), LOGIN);
    assert.match(await follow(shellBlocks(page)), /testingTimeoutMinutes +60\n/);
    const comments = [...readPage(page).matchAll(/`(\/sluice [^`]+)`/g)].map((match) => match[1] as string);
    assert.ok(comments.length > 5);
    for (const comment of comments) assert.notEqual(parseCommand(comment)?.command.kind, 'unclear', comment);
    const settings = [...readPage(page).matchAll(/`([a-z]+[A-Z]\w+)`/g)].map((match) => match[1] as string);
    assert.ok(settings.length > 5);
    for (const name of settings) assert.ok((SETTING_NAMES as readonly string[]).includes(name), name);
  });
});

/** A change that is not under test for long, as pull request 7. */
const PUSH = 'touch $RANDOM.txt && git add . && git commit -qm x && git push -qf origin HEAD:refs/pull/7/head';

/** Results of two tests, of which one failed and passed on the same commit. */
async function uploadResults({
  folder,
  follow,
  run,
}: Clone): Promise<{ readonly test: string; readonly upload: string; readonly earlier: string }> {
  const testCase = (name: string, more = '/>') =>
    `<testcase name='${name}' classname='net' file='net.test.js' time='0.1' ${more}`;
  const suite = (more?: string) =>
    `<testsuite name='connection'><testsuite name='pooled'>${testCase('retries on a closed connection', more)}${testCase('sums a cart')}</testsuite></testsuite>`;
  await mkdir(join(folder, 'reports'));
  for (const [file, more] of [
    ['red.xml', "><failure message='503'/></testcase>"],
    ['junit.xml', undefined],
    ['reports/unit.xml', undefined],
  ] as const) {
    await writeFile(join(folder, file), suite(more));
  }
  await writeFile(join(folder, 'package.json'), '{ "scripts": { "test": "true" } }\n');
  await run('sluice upload red.xml --job unit --wait --exit-code 0');
  await follow('sluice upload junit.xml --job unit --wait');
  const list = await follow("sluice tests list --name 'closed connection' --json");
  const { uploads } = JSON.parse(await follow('sluice tests uploads --json')) as { uploads: { id: string }[] };
  const [upload = '', earlier = ''] = uploads.map(({ id }) => id);
  return { test: UUID.exec(list)?.[0] ?? assert.fail(list), upload, earlier };
}

const TEST_RUN_ID = '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55';
const TEST_ID = 'd8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11';
const UPLOAD_ID = '7f3c9a52-1f0b-4a86-9c55-0d6c1b7f2a11';

async function readTestRun(follow: Clone['follow']): Promise<string> {
  const text = await follow('sluice pr status 7 --json');
  return /"verifiedByTestRun"[^}]*?"([\da-f-]{36})"/.exec(text)?.[1] ?? assert.fail(text);
}

describe('the commands of cli.md work', PATIENCE, () => {
  const page = 'docs/cli.md';

  it('servers, repositories, pull requests and watching', async (t) => {
    const { run, follow, untilState } = await open(t, 'cli', { slow: 'yes' });
    await follow(shellBlocks(page, 'Plain `sluice`') + shellBlocks(page, 'A demo') + shellBlocks(page, 'Forges'));
    await follow(shellBlocks(page, 'Which server'), LOGIN);
    const agents = shellBlocks('docs/mcp.md') + inlineCommands('docs/mcp.md');
    await follow(`${shellBlocks(page, 'Coding agents')}${agents}`, LOGIN);
    await follow('sluice queue create -B release\nsluice pr submit 7 -B release');
    assert.match(await follow(shellBlocks(page, 'Which repository')), /#7/);
    await follow('sluice pr cancel 7 -B release\nsluice queue delete -B release');
    const [acts = '', waits = ''] = shellBlocks(page, 'Pull requests').split(/(?=^sluice pr watch)/m);
    await follow(acts);
    await untilState('TESTING');
    await run(`git rm -q slow && ${PUSH}`);
    const [watch = '', submit = '', rest = ''] = waits.split(/(?=^sluice pr (?:submit|restart))/m);
    await follow(`sluice pr submit 7\n${watch}`);
    await run(PUSH);
    assert.match(await follow(submit), /Landed/);
    const testRun = await readTestRun(follow);
    await run(`touch slow && ${PUSH}`);
    await follow('sluice pr submit 7');
    await untilState('TESTING');
    assert.match(await follow(rest), /CANCELLED/);
    const watched = shellBlocks(page, 'Watching').replaceAll(
      /^(sluice watch(?:(?!--until).)*?)(?= *#| *$)/gm,
      '$1 --until-empty',
    );
    await follow(watched, { [TEST_RUN_ID]: testRun });
  });

  it('repositories, queues, tokens and organizations', async (t) => {
    const { folder, follow } = await open(t, 'cli-admin');
    await follow('sluice queue delete');
    const [first = '', second = ''] = shellBlocks(page, 'Queues').split(
      /(?<=^sluice queue create local\/acme\/app main\n)/m,
    );
    assert.match(await follow(`${first}sluice queue delete\n${second}`), /DRAINING/);
    await writeFile(join(folder, '.sluice.yaml'), 'checks: { test: { run: "true" } }\n');
    await writeFile(join(folder, 'token.txt'), 'npm_0123456789\n');
    const kept = { 'app > .sluice.yaml': 'app' };
    assert.match(await follow(shellBlocks(page, 'Repositories'), kept), /local\/acme\/cli-admin is registered/);
    const created = await follow('sluice token create --name spare --scope read --json');
    const id = UUID.exec(created)?.[0] ?? assert.fail(created);
    const ids = { '0d7f0a35-6ad6-4d5c-9a4f-2a4be4e4a7f1': id };
    assert.match(
      await follow(`sluice repo add local/acme/app --git /srv/git/app.git\n${shellBlocks(page, 'Tokens')}`, ids),
      /registered/,
    );
    const few = { '--prs 300': '--prs 60', '--slots 20': '--slots 20 --prs 60' };
    await follow(shellBlocks(page, 'Simulating settings') + shellBlocks(page, 'Completion'), few);
    const receiver = await new WebhookReceiver().start();
    t.after(() => receiver.close());
    const hooks = { 'https://hooks.acme.dev': receiver.url };
    assert.match(await follow(shellBlocks(page, 'Webhooks'), hooks), /Delivered: status 204/);
    await follow(shellBlocks('docs/webhooks.md') + inlineCommands('docs/webhooks.md'), hooks);
    const told = await follow('sluice notify create ada@acme.dev --for local/Ada --json');
    const messages = { '3f1de2a4-57a4-4f0e-9d7b-6c1f2b8a9e10': UUID.exec(told)?.[0] ?? assert.fail(told) };
    assert.match(await follow(shellBlocks(page, 'Messages to people'), messages), /No more messages/);
    await follow(shellBlocks('docs/messages.md'), { '"$TEAMS_URL"': receiver.url });
    const events = shellBlocks(page, 'Events and the audit') + shellBlocks('docs/events.md');
    assert.match(await follow(events), /records, none changed/);
  });

  it('uploads and tests', async (t) => {
    const clone = await open(t, 'cli-tests');
    const { test, upload, earlier } = await uploadResults(clone);
    await clone.follow('sluice pr submit 7 --wait');
    const testRun = await readTestRun(clone.follow);
    const again = { [`again ${UPLOAD_ID}`]: `again ${upload}`, [UPLOAD_ID]: earlier };
    const ids = { [TEST_ID]: test, ...again, [TEST_RUN_ID]: testRun, ' --org acme': '' };
    const [monitor] = JSON.parse(await clone.follow('sluice tests monitors --json')).monitors;
    await writeFile(join(clone.folder, 'monitor.yaml'), JSON.stringify(monitor));
    assert.match(await clone.follow(shellBlocks(page, 'Tests'), ids), /retention_days +90/);
    await clone.follow(shellBlocks(page, 'Uploading test results'), ids);
    await clone.run('git fetch -q origin main && git checkout -q --detach FETCH_HEAD');
    assert.match(await clone.follow(shellBlocks(page, 'In a job of CI'), ids), /isWanted": true/);
    await clone.follow(inlineCommands(page), LOGIN);
  });
});

describe('the commands of the pages for administrators work', PATIENCE, () => {
  it('flaky-tests.md', async (t) => {
    const clone = await open(t, 'flaky-tests');
    const { upload } = await uploadResults(clone);
    await clone.follow('sluice pr submit 7 --wait');
    const branch = { '${BRANCH##*/}': await readTestRun(clone.follow) };
    await clone.follow(inlineCommands('docs/flaky-tests.md'), branch);
    assert.match(await clone.follow(shellBlocks('docs/flaky-tests.md'), { [UPLOAD_ID]: upload }), /FLAKY/);
  });

  it('uploading.md, runner.md and hooks.md', async (t) => {
    const clone = await open(t, 'uploading');
    await uploadResults(clone);
    await clone.run(
      'cp junit.xml reports/api.xml; gzip < junit.xml > report.xml.gz; mkdir .github; echo "* @acme/all" > .github/CODEOWNERS',
    );
    await writeFile(join(clone.folder, 'token.txt'), 'npm_0123456789\n');
    const page = 'docs/uploading.md';
    const places = { '=acme': '=default', $SHA: '1'.repeat(40) };
    const uploaded = await clone.follow(shellBlocks(page), places);
    assert.equal([...uploaded.matchAll(/"upload_id"/g)].length, 2, uploaded);
    await clone.follow(inlineCommands(page));
    await clone.follow(shellBlocks('docs/hooks.md', 'When they run') + shellBlocks('docs/runner.md'));
  });

  it('operating/results-of-ci.md', async (t) => {
    const { run, follow, untilState } = await open(t, 'operating');
    await follow(
      'sluice repo add local/acme/app --no-check\nsluice queue update --required-statuses test\nsluice pr submit 7',
    );
    await untilState('TESTING');
    const branch = await until(
      'the test branch is there',
      20_000,
      async () => /sluice\/pr-7\/\S+/.exec(await run('git ls-remote origin'))?.[0],
    );
    await run(`git fetch -q origin ${branch} && git checkout -q FETCH_HEAD`);
    await follow(shellBlocks('docs/operating/results-of-ci.md'), { '"app"': '"operating"' });
    await untilState('MERGED');
  });

  it('operating/red-branch.md: a commit past the queue breaks the branch, and is taken back', async (t) => {
    const { run, follow, untilState } = await open(t, 'red-branch');
    await follow('sluice pr submit 7');
    await untilState('MERGED');
    await run('git fetch -q && git switch -qc past origin/main && touch broken && git add . && git commit -qm Past');
    await run('git push -q origin HEAD:main');
    for (const number of [8, 9]) {
      await run(
        `touch ${number}.txt && git add . && git commit -qm ${number} && git push -q origin HEAD:refs/pull/${number}/head`,
      );
      await follow(`sluice pr submit ${number}`);
    }
    const page = 'docs/operating/red-branch.md';
    await until(
      'the cause is found',
      60_000,
      async () =>
        /likely cause/.test(await follow(shellBlocks(page, 'What broke it').split('\n')[0] ?? '').catch(() => '')) ||
        undefined,
    );
    const [first = '', wait = '', only = '', commit = ''] = listStatements(shellBlocks(page, 'Take it back'));
    const sha = (await run('git rev-parse origin/main')).trim();
    assert.match(await follow(`${commit} --wait`, { '"$COMMIT"': sha }), /Landed/);
    assert.match(await follow(only, { ' 5': ' 7' }), /Revert "A change" \(#7\)/);
    assert.match(await follow(wait, { ' 5': ' 7' }), /Landed/);
    assert.match(await follow(first, { ' 5': ' 8' }), /takes back #8/);
  });

  it('operating/first-day.md', async (t) => {
    const { follow } = await open(t, 'first-day');
    const told = await follow(shellBlocks('docs/operating/first-day.md'));
    assert.match(told, /\{"status":"ready"\}[\s\S]*MERGED[\s\S]*records, none changed/);
  });

  it('operating/: backups at the end, as a restore takes back everything', async (t) => {
    const { follow } = await open(t, 'backups');
    const [metrics, recovery] = ['docs/operating/metrics-and-alerts.md', 'docs/operating/recovery.md'];
    await follow(shellBlocks(recovery, 'A lost admin token') + shellBlocks(metrics, 'Prometheus'));
    for (const page of listPages().filter(
      (each) => /^docs\/operating\//.test(each) && readPage(each).includes('`sluice '),
    )) {
      await follow(inlineCommands(page));
    }
    const shownId = /^\w{32}$/m.exec(await follow(shellBlocks(metrics, 'Traces')))?.[0];
    assert.equal(shownId, traceIdOf('5f0c7a3e-6b1d-8a42-8d17-3c9e2b4f6a10', 1));
    const date = { 'sluice-$(date +%F).db': 'sluice-2027-01-31.db' };
    const shown =
      shellBlocks('docs/cli.md', 'Server') +
      shellBlocks('docs/operating/backups.md') +
      shellBlocks(recovery, 'A lost machine');
    const restored = await follow(shown.replaceAll(/^(sluice restore \S+).*$/gm, '$1 --yes'), date);
    assert.match(restored, /as in before-upgrade\.db now[\s\S]*as in .*sluice-2027-01-31\.db now/);
    await follow(shellBlocks('docs/operating/upgrades.md'), { 'before-upgrade': 'before-another-upgrade' });
    await follow(['installing', 'releasing', 'uninstalling'].map((name) => shellBlocks(`docs/${name}.md`)).join(''));
    assert.deepEqual([...unused], [], 'each command that is not run is shown somewhere');
    const shownAll = [
      'cli',
      'flaky-tests',
      'uploading',
      'authors',
      'removed',
      'first-week',
      'coming-from',
      'events',
      'webhooks',
      'mcp',
      'installing',
      'releasing',
      'uninstalling',
      ...['backups', 'first-day', 'metrics-and-alerts', 'recovery', 'results-of-ci', 'upgrades'].map(
        (name) => `operating/${name}`,
      ),
    ]
      .flatMap((name) => listStatements(shellBlocks(`docs/${name}.md`)))
      .filter((statement) => !followed.has(beginningOf(statement)));
    assert.deepEqual(shownAll, [], 'each command that is shown was followed');
  });
});
