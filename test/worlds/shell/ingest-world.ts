import { randomUUID } from 'node:crypto';
import { createIngestLoop, type IngestLoop, type IngestOptions } from '../../../src/ingest/ingest-loop.ts';
import type { Timing } from '../../../src/lib/clock.ts';
import type { Log } from '../../../src/lib/log.ts';
import type { OrganizationId } from '../../../src/storage/accounts.ts';
import type { Repository, RepositoryId } from '../../../src/storage/repositories.ts';
import type { Store } from '../../../src/storage/store.ts';
import type { TestRow } from '../../../src/storage/tests.ts';
import type { Upload, UploadFields } from '../../../src/storage/uploads.ts';
import { anUpload, someFields } from '../../helpers/an-upload.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { anOrganization, aRepository, aToken } from '../../helpers/store-rows.ts';

export const MORNING = Date.UTC(2026, 8, 1, 8);
export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

/** Names of cases and their results: `pass`, `fail`, `skip`. Several words: the case occurs several times. */
export type Report = Readonly<Record<string, string>>;

export function junitOf(report: Report): string {
  const cases = Object.entries(report).flatMap(([name, ends]) => ends.split(' ').map((end) => caseOf(name, end)));
  return `<testsuites><testsuite name="suite">${cases.join('')}</testsuite></testsuites>`;
}

function caseOf(name: string, end: string): string {
  const inside = { pass: '', fail: '<failure message="it broke">at a.js:1</failure>', skip: '<skipped/>' }[end] ?? end;
  return `<testcase name="${name}" classname="C" file="a.test.js" time="0.010">${inside}</testcase>`;
}

/** A repository with an ingest loop on a manual clock. */
export class IngestWorld {
  readonly store: Store;
  readonly repository: Repository;
  loop: IngestLoop;
  now = MORNING;
  readonly clock: Timing = {
    now: () => this.now,
    after: (_ms, act) => {
      const turn = setImmediate(act);
      return () => clearImmediate(turn);
    },
  };
  options: Partial<IngestOptions>;
  log: Log = silentLog;

  private constructor(store: Store, repository: Repository, options: Partial<IngestOptions>) {
    this.store = store;
    this.repository = repository;
    this.options = options;
    this.loop = createIngestLoop(store, this.clock, this.log, options);
  }

  /** With fixed ids, so that several stores get the same rows. */
  static async create(
    store: Store,
    options: Partial<IngestOptions> & { readonly id?: string } = {},
  ): Promise<IngestWorld> {
    const { id, ...given } = options;
    const organization = anOrganization(id === undefined ? {} : { id: id as OrganizationId, slug: 'acme' });
    await store.accounts.createOrganization(organization, aToken({ organizationId: organization.id }));
    const named = id === undefined ? {} : { id: id as RepositoryId, name: 'app' };
    const repository = await store.repositories.save(
      aRepository({ organizationId: organization.id, createdAt: MORNING, ...named }),
    );
    return new IngestWorld(store, repository, given);
  }

  /** Another repository of the same organization. */
  async another(): Promise<IngestWorld> {
    const { organizationId } = this.repository;
    const repository = await this.store.repositories.save(aRepository({ organizationId, createdAt: MORNING }));
    return new IngestWorld(this.store, repository, this.options);
  }

  /** The loop begins anew with these options. */
  configure(options: Partial<IngestOptions>): void {
    this.options = options;
    this.restart();
  }

  /** Simulates a crash: everything in memory is lost. */
  restart(store = this.store): IngestLoop {
    this.loop = createIngestLoop(store, this.clock, this.log, this.options);
    return this.loop;
  }

  async accept(body: string, fields: Partial<UploadFields> = {}, of: Partial<Upload> = {}): Promise<Upload> {
    const bytes = Buffer.from(body);
    const bodyId = randomUUID();
    for (let from = 0; from < bytes.length || from === 0; from += 262_144) {
      await this.store.uploadBodies.append(bodyId, 0, bytes.subarray(from, from + 262_144), this.now);
    }
    const upload = anUpload(this.repository.id, {
      receivedAt: this.now,
      fields: someFields(fields),
      bodyId,
      files: [{ name: 'junit.xml', encoding: 'identity', sizeBytes: bytes.length }],
      sizeBytes: bytes.length,
      ...of,
    });
    return this.store.uploads.create(upload, this.now);
  }

  /** Uploads a report and processes it. Returns the processed upload. */
  async upload(report: Report, fields: Partial<UploadFields> = {}): Promise<Upload> {
    const { id } = await this.accept(junitOf(report), fields);
    await this.loop.runUntilIdle();
    return this.find(id);
  }

  async find(uploadId: string): Promise<Upload> {
    const upload = await this.store.uploads.find(uploadId);
    if (upload === undefined) throw new Error('there is no such upload');
    return upload;
  }

  async test(name: string): Promise<TestRow> {
    const found = await this.store.tests.search(this.repository.id, name, 10);
    const test = found.find((row) => row.name === name);
    if (test === undefined) throw new Error(`there is no test ${name}`);
    return test;
  }

  async statuses(): Promise<Readonly<Record<string, string>>> {
    const found = await this.store.tests.search(this.repository.id, '', 100);
    return Object.fromEntries(found.map(({ name, status }) => [name, status]));
  }

  async events(name: string): Promise<readonly string[]> {
    const { id: testId } = await this.test(name);
    const repositoryId = this.repository.id;
    const watermark = await this.store.tests.getWatermark(repositoryId);
    const { events } = await this.store.tests.listEvents({ repositoryId, testId, watermark, offset: 0, limit: 100 });
    return events.map(({ kind }) => kind).reverse();
  }

  /** The number of stored runs of a test. */
  async runs(name: string): Promise<number> {
    const { id: testId } = await this.test(name);
    const repositoryId = this.repository.id;
    const watermark = await this.store.tests.getWatermark(repositoryId);
    const all = { repositoryId, testId, watermark, offset: 0, limit: 100, since: 0, branch: null, conclusion: null };
    return (await this.store.tests.listRuns(all)).totalRows;
  }

  pass(ms: number): Promise<void> {
    this.now += ms;
    return this.loop.runUntilIdle();
  }
}
