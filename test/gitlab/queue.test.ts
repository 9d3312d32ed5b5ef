// A server as users run it, set up by its own command, on a GitLab of this machine.

import assert from 'node:assert/strict';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { commitChange } from '../contract/plain-repository.ts';
import { makeFolder, startHere, type TestServer, until } from '../e2e/harness.ts';
import { sluice } from '../e2e/kept-sluice.ts';
import { createFakeGitlab, type FakeGitlab } from '../fake/gitlab/fake-gitlab.ts';
import { branchHead, LEVEL, type MergeRequest, type Project } from '../fake/gitlab/model.ts';
import { addNote, readStatus, setLabels, settlePipeline } from '../fake/gitlab/pushes.ts';
import { openRequest } from '../fake/gitlab/request-routes.ts';

const PATIENCE_MS = 60_000;
/** Requests of a poll while something changes. Only a poll asks for the project, once. */
const POLL = 5;
let gitlab: FakeGitlab;
let dataFolder: string;
let server: TestServer;
let host: string;
let count = 0;
const formerSsh = process.env['GIT_SSH_COMMAND'];

async function printed(expected: number, ...args: string[]): Promise<string> {
  const env = { SLUICE_DATA: dataFolder, ...server?.env };
  const { code, out, err } = await sluice(args, { env });
  assert.equal(code, expected, `sluice ${args.join(' ')}\n${out}\n${err}`);
  return `${out}\n${err}`;
}

before(async () => {
  dataFolder = await makeFolder();
  gitlab = await createFakeGitlab();
  process.env['GIT_SSH_COMMAND'] = gitlab.ssh;
  ({ host } = new URL(gitlab.url));
  server = await startHere({ SLUICE_DATA: dataFolder });
});

after(async () => {
  await server.stop();
  if (formerSsh === undefined) delete process.env['GIT_SSH_COMMAND'];
  else process.env['GIT_SSH_COMMAND'] = formerSsh;
  await gitlab.close();
  await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
});

interface World {
  readonly project: Project;
  readonly fullName: string;
  open(files?: Readonly<Record<string, string>>): Promise<MergeRequest>;
  say(request: MergeRequest, text: string): void;
  /** Ends the pipelines of all test branches, once each, until the test ends. */
  runCi(): void;
  stop(): void;
  untilState(request: MergeRequest, state: string): Promise<EntryView>;
  /** Without those of polls. */
  calls(): number;
}

const APP = 'acme/tools';

async function createWorld(settings: readonly string[] = []): Promise<World> {
  count += 1;
  const name = `app-${count}`;
  const bot = gitlab.addUser('group_9_bot_0b', { isBot: true });
  const ada = gitlab.addUser('ada');
  const members = { [bot.username]: LEVEL.maintainer, ada: LEVEL.developer };
  const project = gitlab.addProject(`${APP}/${name}`, members);
  project.jobs = ['unit'];
  await commitChange(project.gitDir, 'refs/heads/main', undefined, { files: { 'a.txt': 'a\n' } });
  await gitlab.catchUp(project, ada);
  await writeFile(join(dataFolder, 'token.txt'), gitlab.addToken(bot), { mode: 0o600 });
  const given = ['--gitlab-token-file', join(dataFolder, 'token.txt'), '--repo', `${APP}/${name}`, '--yes'];
  const url = ['--url', 'https://sluice.acme.dev'];
  await printed(0, 'forge', 'setup', 'gitlab', gitlab.url, ...given, ...url);
  // The address is that of this server.
  for (const hook of project.hooks.values()) hook.url = `${server.url}/webhooks/gitlab/${host}`;
  const fullName = `${host}/${APP}/${name}`;
  await until('the server has connected it', PATIENCE_MS, async () => {
    const { code } = await sluice(['repo', 'add', fullName], { env: { SLUICE_DATA: dataFolder, ...server.env } });
    return code === 0 ? true : undefined;
  });
  const required = ['--required-statuses', 'pipeline', '--confirm-failures', 'NEVER'];
  await printed(0, 'queue', 'create', fullName, 'main', ...required, ...settings);
  let opened = 0;
  let ci: NodeJS.Timeout | undefined;
  const since = gitlab.world.requests.length;
  const ref = { repo: { host, owner: APP, name }, targetBranch: 'main' };
  return {
    project,
    fullName,
    async open(files) {
      opened += 1;
      const branch = `change-${opened}`;
      const change = { files: files ?? { [`${branch}.txt`]: 'x\n' }, message: `Add ${branch}` };
      await commitChange(project.gitDir, `refs/heads/${branch}`, branchHead(project, 'main'), change);
      await gitlab.catchUp(project, ada);
      const draft = { project, source: project, sourceBranch: branch, targetBranch: 'main', author: ada };
      const request = await openRequest(gitlab.world, { ...draft, title: `Add ${branch}` });
      await readStatus(request);
      return request;
    },
    say: (request, text) => void addNote(gitlab.world, request, ada, text),
    runCi() {
      ci = setInterval(() => {
        for (const pipeline of project.pipelines) {
          if (!pipeline.ref.startsWith('sluice/') || pipeline.status !== 'running') continue;
          for (const job of pipeline.jobs) job.status = 'success';
          settlePipeline(gitlab.world, project, pipeline);
        }
      }, 200);
    },
    stop: () => clearInterval(ci),
    untilState: ({ iid }, state) =>
      until(`!${iid} is ${state}`, PATIENCE_MS, async () => {
        const answer = await server.api.post('getSubmittedPullRequest', { ...ref, pr: { number: iid } });
        const entry = answer.status === 200 ? (JSON.parse(answer.text) as EntryView) : undefined;
        return entry?.state === state ? entry : undefined;
      }),
    calls() {
      const asked = gitlab.world.requests
        .slice(since)
        .filter(({ area, path }) => area === 'rest' && !path.startsWith('/fake/'));
      return asked.length - POLL * asked.filter(({ route }) => route === 'GET /projects/{id}').length;
    },
  };
}

describe('a queue on GitLab', () => {
  test('the setup keeps its secrets for their owner, lets the key alone push, and the check finds nothing missing [G192]', async () => {
    const { project, fullName } = await createWorld();
    assert.equal((await stat(join(dataFolder, 'gitlab', `${host}.json`))).mode & 0o777, 0o600);
    assert.equal((await stat(join(dataFolder, 'gitlab', `${host}.key`))).mode & 0o777, 0o600);
    const [key] = project.deployKeys.values();
    assert.deepEqual(project.protections.get('main')?.push, [0, { deployKey: key?.id }]);
    assert.ok(project.labels.has('trunk-merge-queue-submit'));
    const check = await printed(0, 'forge', 'check', fullName, 'main');
    assert.match(check, /has not met a real GitLab/);
    assert.match(check, /A deploy key with write access may push to main/);
    assert.match(check, /Nothing keeps a queue from working/);
    assert.match(await printed(1, 'forge', 'setup', 'gitlab', gitlab.url), /is connected already/);
    assert.match(await printed(2, 'forge', 'setup', 'gitlab', 'gitlab.acme.dev'), /must be an address/);
  });

  test('a note submits, the pipeline passes, the tested commit lands by the key, and twelve requests are enough [G183] [G185]', async () => {
    const world = await createWorld();
    const requests = [await world.open(), await world.open(), await world.open()];
    world.runCi();
    const before = world.calls();
    for (const request of requests) {
      world.say(request, 'Looks good.\n\n/sluice merge');
      const { landed } = await world.untilState(request, 'MERGED');
      assert.equal(branchHead(world.project, 'main'), landed?.sha);
      const told = () => request.notes.some(({ author, body }) => author.isBot && body.includes('Landed')) || undefined;
      await until('it is told', PATIENCE_MS, async () => told());
    }
    world.stop();
    const each = (world.calls() - before) / requests.length;
    assert.ok(each <= 12, `${each} requests for each merge request`);
    for (const request of requests) {
      assert.equal(request.notes.filter(({ author }) => author.isBot).length, 1);
      await until('it is settled', PATIENCE_MS, async () => request.state !== 'opened' || undefined);
    }
  });

  test('a batch of four takes nine requests each [G184]', async () => {
    const world = await createWorld(['--batch', '--batching-min-size', '4', '--batching-max-wait-time-minutes', '10']);
    const requests = [await world.open(), await world.open(), await world.open(), await world.open()];
    world.runCi();
    const before = world.calls();
    for (const request of requests) world.say(request, '/sluice merge');
    for (const request of requests) await world.untilState(request, 'MERGED');
    for (const request of requests)
      await until('it is settled', PATIENCE_MS, async () => request.state !== 'opened' || undefined);
    world.stop();
    const each = (world.calls() - before) / requests.length;
    assert.ok(each <= 9, `${each} requests for each merge request`);
  });

  test('a label submits a merge request [G57]', async () => {
    const world = await createWorld();
    const request = await world.open();
    setLabels(gitlab.world, request, gitlab.addUser('ada'), { add: ['trunk-merge-queue-submit'] });
    world.runCi();
    await world.untilState(request, 'MERGED');
    world.stop();
  });

  test('a merge request that is not ready waits and names why, and lands once GitLab is content [G182]', async () => {
    const world = await createWorld();
    const request = await world.open();
    request.forced = 'moon_phase';
    world.say(request, '/sluice merge');
    const { readiness } = await world.untilState(request, 'NOT_READY');
    assert.equal(readiness?.gitHubMergeability, 'NOT_MERGEABLE');
    request.forced = undefined;
    world.runCi();
    const user = gitlab.addUser('ada');
    gitlab.world.announce({ kind: 'merge_request', action: 'approved', project: world.project, user, request });
    await world.untilState(request, 'MERGED');
    world.stop();
  });
});
