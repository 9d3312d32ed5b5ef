// Tests comments, checks and labels with the real adapter, the real worker and the fake GitHub over HTTP.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../src/app/core/app.ts';
import { isRefusal } from '../../src/app/core/refusal.ts';
import { EffectWorker } from '../../src/app/effects/effect-worker.ts';
import { runCommentCommand } from '../../src/app/forge-events/commands/comment-command.ts';
import { runLabelCommand } from '../../src/app/forge-events/commands/label-command.ts';
import { createQueue } from '../../src/app/queue/queues.ts';
import type { CandidateNumber } from '../../src/engine/candidate.ts';
import type { CheckConclusion } from '../../src/engine/check.ts';
import type { PrNumber } from '../../src/engine/pull-request.ts';
import { findCandidate } from '../../src/engine/queue.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../../src/engine/settings.ts';
import { githubConnection } from '../../src/forge/github/api/connection.ts';
import { createGithubForge, type GithubForge } from '../../src/forge/github/create-github-forge.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { QueueId } from '../../src/storage/queues.ts';
import type { Repository } from '../../src/storage/repositories.ts';
import { createMemoryStore } from '../../src/storage/sqlite/create-memory-store.ts';
import { createFakeGithub, type FakeGithub } from '../fake/github/fake-github.ts';
import type { Comment, Repository as FakeRepository, PullRequest } from '../fake/github/model.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { storeRepository } from '../helpers/store-rows.ts';
import { createTestApp } from '../worlds/shell/create-app.ts';

const DEADLINE_MS = 60_000;
const HOST = 'github.test';
const PEOPLE = ['ada', 'eve', 'mallory'];

let folder: string;
let github: FakeGithub;
let forge: GithubForge;
let count = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-talking-'));
  github = await createFakeGithub({ mergeability: 'at_once' });
  github.install(github.app, 'acme');
  const auth = { kind: 'app', appId: String(github.app.id), privateKey: github.privateKey } as const;
  const connection = githubConnection({ host: HOST, auth, apiUrl: github.url, webUrl: github.url });
  forge = createGithubForge({ connection, clock: systemClock, log: silentLog, directory: folder, paceMs: 0 });
});

after(async () => {
  await forge.close();
  await github.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A server with one queue for one repository of its own. */
class Place {
  readonly app: App;
  readonly worker: EffectWorker;
  readonly fake: FakeRepository;
  readonly repository: Repository;
  readonly queueId: QueueId;

  private constructor(parts: Pick<Place, 'app' | 'fake' | 'repository' | 'queueId'>) {
    this.app = parts.app;
    this.fake = parts.fake;
    this.repository = parts.repository;
    this.queueId = parts.queueId;
    this.worker = new EffectWorker(parts.app, 'server');
    this.worker.start();
  }

  static async create(settings: Partial<QueueSettings> = {}): Promise<Place> {
    count += 1;
    const roles = { ada: 'write', eve: 'read' } as const;
    const fake = await github.createRepository(`acme/app-${count}`, { roles });
    const store = createMemoryStore();
    const repository = await storeRepository(store, { host: HOST, owner: 'acme', name: fake.name, checks: [] });
    const forges = new Map([[HOST, forge]]);
    const app = createTestApp({ store, forges });
    const organization = await store.accounts.findOrganizationById(repository.organizationId);
    assert.ok(organization);
    const caller = {
      organization,
      tokenId: '',
      name: 'root',
      scopes: new Set(['admin'] as const),
      repositoryIds: null,
    };
    const chosen = { ...DEFAULT_SETTINGS, requiredStatuses: ['ci'], ...settings };
    const input = { repo: repository, targetBranch: 'main', settings: chosen, state: undefined };
    const created = await createQueue(app, caller, input);
    assert.ok(!isRefusal(created), JSON.stringify(created));
    const queue = await store.queues.find(repository.id, 'main');
    assert.ok(queue);
    return new Place({ app, fake, repository, queueId: queue.id });
  }

  open(title: string): Promise<PullRequest> {
    count += 1;
    return github.openPullRequest(this.fake, { title, author: 'ada', files: { [`f${count}`]: 'x' } });
  }

  async say(pr: PullRequest, login: string, body: string): Promise<void> {
    await this.hear(pr, github.comment(pr, login, body));
  }

  async hear(pr: PullRequest, { id, nodeId, author }: Comment): Promise<void> {
    const hint = { number: pr.number as PrNumber, commentId: String(id), nodeId, author: author.login };
    assert.equal(await runCommentCommand(this.app, { repository: this.repository }, hint), 'remember');
  }

  async hearOfLabel(pr: PullRequest): Promise<void> {
    const hint = { number: pr.number as PrNumber, label: DEFAULT_SETTINGS.enqueueingLabel };
    assert.equal(await runLabelCommand(this.app, { repository: this.repository }, hint), 'done');
  }

  async report(candidate: number, conclusion: CheckConclusion): Promise<void> {
    const of = candidate as CandidateNumber;
    await until('the candidate is under test', async () => {
      const found = await this.app.queues.find(this.queueId);
      return found && findCandidate(found.queue, of)?.state === 'testing';
    });
    const url = 'https://ci.test/1';
    const check = {
      name: 'ci',
      status: 'COMPLETED' as const,
      conclusion,
      startedAt: undefined,
      url,
      summary: undefined,
    };
    const event = { kind: 'check_reported' as const, candidate: of, check };
    await this.app.queues.run(this.queueId, () => ({ ...event, at: systemClock.now() }));
  }

  /** The server's own comments, oldest first. */
  textsOn(pr: PullRequest): string[] {
    return github.listComments(pr).flatMap(({ author, body }) => (PEOPLE.includes(author.login) ? [] : body));
  }

  async untilTold(pr: PullRequest, pattern: RegExp): Promise<string> {
    await until(`it is told ${pattern}`, async () => this.textsOn(pr).some((text) => pattern.test(text)));
    return this.textsOn(pr).find((text) => pattern.test(text)) as string;
  }
}

async function until(what: string, isSo: () => Promise<boolean | undefined>): Promise<void> {
  const end = Date.now() + DEADLINE_MS;
  while ((await isSo()) !== true) {
    assert.ok(Date.now() < end, `not so in time: ${what}`);
    await pause(20);
  }
}

describe('talking to people on GitHub', () => {
  it('tells in one comment and one check, from a command to the landing [G45] [G48] [G50]', async () => {
    const place = await Place.create({ mergeMethod: 'SQUASH', landingMode: 'API' });
    const pr = await place.open('**@everyone** <b>#1</b>');
    await place.say(pr, 'ada', 'Ship it!\n\n/sluice merge -p high');
    await place.untilTold(pr, /Being tested/);
    await place.report(1, 'SUCCESS');
    await place.untilTold(pr, /Landed/);
    await until('the check has ended', async () =>
      github.listChecks(place.fake, pr.headSha).some(({ conclusion }) => conclusion === 'success'),
    );
    assert.equal(place.textsOn(pr).length, 1);
    assert.equal(github.listChecks(place.fake, pr.headSha).length, 1);
    assert.equal(pr.state, 'closed');
    await place.worker.stop();
  });

  it('closes what was pushed as another commit, after its comment named it [G52]', async () => {
    const place = await Place.create({ mergeMethod: 'SQUASH', landingMode: 'PUSH' });
    const pr = await place.open('Squash me');
    await place.say(pr, 'ada', '/trunk merge');
    await place.report(1, 'SUCCESS');
    const text = await place.untilTold(pr, /Landed/);
    assert.match(text, /It is on `main`. Its commit \[`[0-9a-f]{12}`\]/);
    await until('it is closed', async () => pr.state === 'closed');
    await place.worker.stop();
  });

  it('obeys who may write now, and neither others nor itself [G54] [G55]', async () => {
    const place = await Place.create();
    const pr = await place.open('Not yours');
    await place.say(pr, 'eve', '/sluice merge');
    const [refusal, ...more] = place.textsOn(pr);
    assert.match(refusal ?? '', /`eve` has no write access to this repository/);
    assert.deepEqual(more, []);
    assert.equal(await place.app.store.queues.findEntry(place.queueId, pr.number), undefined);
    github.setPermission(place.fake, 'eve', 'write');
    await place.say(pr, 'eve', '/sluice help');
    const own = github.listComments(pr).find(({ body }) => body.includes('`/sluice merge` puts'));
    assert.ok(own);
    own.body = '/sluice merge';
    await place.hear(pr, own);
    assert.equal(await place.app.store.queues.findEntry(place.queueId, pr.number), undefined);
    await place.worker.stop();
  });

  it('has a fork tested only at a head that a writer could have seen [G56]', async () => {
    const place = await Place.create();
    const fork = await github.fork(place.fake, 'mallory');
    const pr = await github.openPullRequest(place.fake, { from: fork, author: 'mallory', title: 'From afar' });
    await place.say(pr, 'mallory', '/sluice merge');
    await place.say(pr, 'ada', '/sluice merge');
    assert.equal(await place.app.store.queues.findEntry(place.queueId, pr.number), undefined);
    await place.untilTold(pr, /comes from a fork/);
    // Timestamps of comments have whole seconds, so the next comment must come in a later second.
    const heardAt = Date.now();
    await until('a new second has begun', async () => Math.floor(Date.now() / 1_000) * 1_000 > heardAt);
    await place.say(pr, 'ada', '/sluice merge');
    await place.untilTold(pr, /Being tested/);
    await place.worker.stop();
  });

  it('submits by label, shows the state as one, and takes the first off at the end [G53] [G140]', async () => {
    const place = await Place.create({ stateLabelsEnabled: true });
    const pr = await place.open('By label');
    github.label(pr, 'ada', DEFAULT_SETTINGS.enqueueingLabel);
    await place.hearOfLabel(pr);
    await place.untilTold(pr, /Being tested/);
    await until('it is labelled', async () => pr.labels.some(({ name }) => name === 'sluice-testing'));
    await place.report(1, 'FAILURE');
    await place.untilTold(pr, /Failed and removed.*\[`ci`\]\(https:\/\/ci\.test\/1\) failed/s);
    await until(
      'labels are as they should be',
      async () => pr.labels.map(({ name }) => name).join() === 'sluice-failed',
    );
    // The server itself removed the label, so its hint is no command.
    await place.hearOfLabel(pr);
    assert.equal((await place.app.store.queues.findEntry(place.queueId, pr.number))?.state, 'FAILED');
    await place.worker.stop();
  });
});
