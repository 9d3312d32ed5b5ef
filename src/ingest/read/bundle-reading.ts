/**
 * Reads a bundle. Its runs are in internal.bin; its reports add failed attempts before a rerun, and whether the reports
 * are whole. CODEOWNERS comes last, and so may the reason to refuse the whole bundle. So the bundle is read once more
 * if owners are missing, and before more than VERIFIED_FROM runs are passed on.
 */
import { BazelTargets } from '../../bundle/bazel-targets.ts';
import { decodeBep } from '../../bundle/bep.ts';
import { decodeInternal, type InternalItem } from '../../bundle/decode-internal.ts';
import { type BundleMeta, compareMeta } from '../../bundle/meta.ts';
import { type BundleFile, inspectBundle, readBundle } from '../../bundle/read-bundle.ts';
import { Unreadable } from '../../bundle/unreadable.ts';
import type { BranchRules } from '../../flaky/identity/branch.ts';
import { isForkRun, jobAttemptOf, jobNameOf, readCiFacts } from '../../flaky/identity/ci-facts.ts';
import type { CodeOwners } from '../../flaky/identity/code-owners.ts';
import type { Issue } from '../../flaky/identity/issue.ts';
import { suitePathOf } from '../../flaky/identity/test-id.ts';
import { checkUpload, createFindingCounts, type IdentityFinding } from '../../flaky/identity/validate.ts';
import type { JunitCase } from '../../junit/junit-case.ts';
import { createSetupErrors } from '../../junit/setup-case.ts';
import type { Upload } from '../../storage/uploads.ts';
import type { CaseSources } from './case-runs.ts';
import { caseOfRun, internalRun } from './internal-runs.ts';
import { silentFailure } from './read-bep.ts';
import { RUNS_AT_ONCE, readJunit, unreadableIssue } from './read-junit.ts';
import { type ReadLimits, storableText } from './read-limits.ts';
import { createOwnerLists, parseOwners } from './read-owners.ts';
import type { ReadFacts, ReadItem, ReadRun } from './read-run.ts';
import type { IdentifyTest, TestNameCache } from './test-name-cache.ts';
import { NO_ISSUES, OF_FORK, type UploadIssues } from './upload-issues.ts';

export interface BundleSources {
  readonly organization: string;
  readonly repository: { readonly host: string; readonly owner: string; readonly name: string };
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly rules: BranchRules;
  readonly testNames: TestNameCache;
  readonly issues: UploadIssues;
  readonly limits: ReadLimits;
}

/** Known once meta.json was read. */
interface Begun {
  readonly meta: BundleMeta;
  readonly identify: IdentifyTest;
}

/** Fewer than one stored part holds, so that a refused bundle leaves nothing in the store. */
const VERIFIED_FROM = 20_000;
/** A bundle with more failing targets is not checked for completeness. */
const MAX_FAILED_LABELS = 50_000;
/** A bundle with more failures cannot be waived, so their suites do not matter. */
const MAX_HELD = 5_000;

/** A class, because each bundle has state that changes with every part. */
// SPEC U27
export class BundleReading {
  /** The first sign of incomplete reports, as a sentence. */
  problem: string | null = null;
  files = 0;
  readonly #upload: Upload;
  readonly #sources: BundleSources;
  readonly #findings = createFindingCounts();
  readonly #internOwners = createOwnerLists();
  readonly #targets = new BazelTargets();
  readonly #failedLabels = new Set<string>();
  #begun: Begun | undefined;
  #owners: CodeOwners | undefined;
  #isInspected = false;
  #told = 0;
  /** The source of runs; undefined: the first file with runs decides. */
  #source: 'internal' | 'junit' | undefined;
  /** internal.bin lists runs. */
  #hasList = false;
  #listed = 0;
  #cases = 0;
  readonly #ledger = new FailureLedger();
  /** Those of the list. Its reports, if there are any, hold them too. */
  readonly #setup = createSetupErrors();
  /** Failures from the list, held until the reports have named their suites. */
  readonly #held: ReadRun[] = [];

  constructor(upload: Upload, sources: BundleSources) {
    this.#upload = upload;
    this.#sources = sources;
  }

  get hasBegun(): boolean {
    return this.#begun !== undefined;
  }

  async *read(): AsyncGenerator<ReadItem> {
    const { open, limits, issues } = this.#sources;
    for await (const part of readBundle(open, { onIssue: this.#onIssue, limits: limits.bundle })) {
      if (part.kind === 'meta') yield this.#begin(part.meta);
      else yield* this.#readPart(part);
    }
    if (this.#source === 'internal' && !this.#hasList && this.files > 0) yield* this.#readCases();
    while (this.#held.length > 0) yield await this.#tell(this.#held.splice(0, RUNS_AT_ONCE).map(this.#withPath));
    if (this.#listed > 0 && this.#listed < this.#cases) this.#onIssue(shortList(this.#cases - this.#listed));
    // Targets that did not run may have left reports of an earlier build beside those of this one.
    const unlisted = this.#hasList && this.#listed < Number.POSITIVE_INFINITY ? this.#ledger.missing : 0;
    if (unlisted > 0) this.#onIssue(unlistedFailures(unlisted));
    this.problem ??= silentFailure(this.#targets, this.#failedLabels);
    if (issues.setupProblem === null) issues.addSetup(null, this.#setup);
    for (const issue of [...this.#findings.list(null), ...(this.#owners?.issues() ?? [])]) issues.add(issue);
  }

  #begin(meta: BundleMeta): ReadItem {
    const { organization: org, repository, rules, issues, testNames } = this.#sources;
    const idV2 = meta.bundleUploadIdV2 ?? '';
    const contradiction = compareMeta(meta, { org, repository, id: this.#upload.id, idV2 });
    if (contradiction !== undefined) throw new Unreadable('BAD_META', contradiction);
    const { facts, findings } = bundleFacts(meta, rules);
    // An empty commit would merge the runs of all unknown commits into one.
    if (facts.fields.sha === '') throw new Unreadable('BAD_META', 'The upload has no commit.');
    for (const finding of findings) issues.add({ ...finding, file: null, line: null });
    if (facts.isFork) issues.add(OF_FORK);
    this.#begun = { meta, identify: testNames.of({ org, repository, variant: facts.fields.variant }) };
    const listsRuns = meta.internalPath !== null || meta.fileSets.some(({ kind }) => kind === 'internal');
    this.#source = listsRuns ? 'internal' : undefined;
    return facts;
  }

  async *#readPart(part: BundleFile): AsyncGenerator<ReadItem> {
    try {
      if (part.kind === 'internal') yield* this.#readInternal(part);
      else if (part.kind === 'junit') yield* this.#readReport(part);
      else if (part.kind === 'bep') await this.#readEvents(part);
    } catch (error) {
      // A fault in this file alone does not spoil the others.
      if (!(error instanceof Unreadable && error.isPartlyUsable)) throw error;
      this.#onIssue(unreadableIssue(error, part.originalPath));
    }
  }

  async *#readInternal({ body, path: file }: BundleFile): AsyncGenerator<ReadItem> {
    if (this.#source === 'junit') return this.#onIssue(unexpectedList(file));
    this.#source = 'internal';
    const { meta, identify } = this.#getBegun();
    const of = {
      identify,
      receivedAt: this.#upload.receivedAt,
      ownersOf: this.#ownersOf,
      internOwners: this.#internOwners,
      findings: this.#findings,
      isOnlySource: meta.fileSets.every(({ kind }) => kind === 'internal'),
      textBytes: this.#sources.limits.junit.textBytes,
    };
    for await (const items of decodeInternal(body, { file, onIssue: this.#onIssue })) {
      if (items.some(lacksOwners)) await this.#findOwners();
      const runs: ReadRun[] = [];
      for (const item of items) {
        this.#note(item);
        if (item.kind === 'run' && item.status === 'FAILURE' && this.#setup.take(caseOfRun(item))) continue;
        const run = item.kind === 'run' ? internalRun(item, of) : undefined;
        if (run?.conclusion === 'FAILURE' && this.#held.length < MAX_HELD) this.#held.push(run);
        else if (run !== undefined) runs.push(run);
        else if (item.kind === 'run') this.problem ??= 'The list of runs has one without a name or a result.';
        if (runs.length === RUNS_AT_ONCE) yield await this.#tell(runs.splice(0));
      }
      if (runs.length > 0) yield await this.#tell(runs);
    }
  }

  async *#readReport(file: BundleFile): AsyncGenerator<ReadItem> {
    this.files += 1;
    this.#source ??= 'junit';
    if (this.#source === 'junit') await this.#findOwners();
    const report = this.#openReport(file, this.#source === 'junit' ? 'all' : 'reruns', this.#sources.issues);
    let next = await report.next();
    for (; next.done !== true; next = await report.next()) yield await this.#tell(next.value);
    const { problem, unreadable, cases = 0 } = next.value;
    this.#cases += cases;
    if (unreadable !== undefined && !unreadable.isPartlyUsable) throw unreadable;
    this.problem ??= problem;
  }

  /**
   * The list of runs is missing, or empty because the uploader could not read the reports (it needs UTF-8, and every
   * tag closed). So the reports are read for their cases.
   */
  async *#readCases(): AsyncGenerator<ReadItem> {
    const { open, limits } = this.#sources;
    await this.#findOwners();
    for await (const part of readBundle(open, { onIssue: () => {}, limits: limits.bundle })) {
      if (part.kind !== 'junit') continue;
      for await (const runs of this.#openReport(part, 'cases', NO_ISSUES)) yield await this.#tell(runs);
    }
  }

  #openReport({ body, originalPath: file }: BundleFile, take: CaseSources['take'], issues: UploadIssues) {
    const { identify } = this.#getBegun();
    const { receivedAt } = this.#upload;
    const limits = this.#sources.limits.junit;
    const onFailing = take === 'reruns' ? (test: JunitCase) => this.#ledger.noteReported(test) : () => {};
    return readJunit(body, { identify, receivedAt, ownersOf: this.#ownersOf, take, file, issues, limits, onFailing });
  }

  async #readEvents({ body, path: file }: BundleFile): Promise<void> {
    for await (const event of decodeBep(body, { file, onIssue: this.#onIssue })) this.#targets.add(event);
  }

  #note(item: InternalItem): void {
    this.#hasList = true;
    if (item.kind === 'run') this.#listed += 1;
    if (item.kind === 'run' && item.status === 'FAILURE') this.#ledger.noteListed(item);
    // With Bazel there may be more reports than listed runs: those of targets that did not run.
    if (item.kind === 'build') this.#listed = Number.POSITIVE_INFINITY;
    if (item.kind === 'run' && item.status === 'FAILURE' && item.bazelLabel !== null) {
      if (this.#failedLabels.size < MAX_FAILED_LABELS) this.#failedLabels.add(item.bazelLabel);
    } else if (item.kind === 'build' && item.result === 'FAILURE' && !this.#failedLabels.has(item.label)) {
      this.problem ??= `${item.label.slice(0, 200)} failed, and no test that failed in it is told.`;
    }
  }

  async #tell(runs: readonly ReadRun[]): Promise<ReadItem> {
    this.#told += runs.length;
    if (this.#told > VERIFIED_FROM) await this.#inspect();
    return { kind: 'runs', runs };
  }

  readonly #withPath = (run: ReadRun): ReadRun => ({ ...run, path: this.#ledger.takePath(run.names) });

  // SPEC U57
  async #findOwners(): Promise<void> {
    if (this.#getBegun().meta.codeOwnersPath !== null) await this.#inspect();
  }

  async #inspect(): Promise<void> {
    if (this.#isInspected) return;
    this.#isInspected = true;
    const text = await inspectBundle(this.#sources.open, this.#sources.limits.bundle);
    if (text !== undefined) this.#owners = parseOwners(text, this.#getBegun().meta.codeOwnersPath ?? '');
  }

  /** meta.json is always the first part. */
  #getBegun(): Begun {
    if (this.#begun === undefined) throw new Error('a bundle gave a file before its meta.json');
    return this.#begun;
  }

  readonly #ownersOf = (file: string): readonly string[] =>
    this.#internOwners(file === '' ? [] : (this.#owners?.ownersOf(file) ?? []));

  readonly #onIssue = (issue: Issue): void => {
    if (issue.level === 'error') this.problem ??= `${issue.file ?? 'The bundle'}: ${issue.message}`;
    this.#sources.issues.add(issue);
  };
}

function lacksOwners(item: InternalItem): boolean {
  return item.kind === 'run' && item.file !== '' && item.codeOwners.length === 0;
}

function shortList(missing: number): Issue {
  const message = `The list of runs lacks ${missing} of the tests that the reports hold.`;
  const hint = 'The uploader reads UTF-8 and well-formed XML only, and passes over tests outside a suite.';
  return { level: 'error', file: null, line: null, message, hint };
}

function unlistedFailures(count: number): Issue {
  const message = `The reports hold ${count} failures that the list of runs does not have.`;
  const hint = 'The uploader takes them for something else. Upload the reports with `sluice upload`.';
  return { level: 'error', file: null, line: null, message, hint };
}

function unexpectedList(file: string): Issue {
  const message = 'The list of runs comes after the reports and is not used.';
  return { level: 'warning', file, line: null, message, hint: 'Use a newer uploader.' };
}

const MAX_NAME_LENGTH = 500;
const MAX_URL_LENGTH = 2_000;
/** The length of a SHA-256 digest. */
const MAX_SHA_LENGTH = 64;

interface BundleFacts {
  readonly facts: ReadFacts;
  readonly findings: readonly IdentityFinding[];
}

/** The facts of meta.json that all runs of the bundle share. */
function bundleFacts(meta: BundleMeta, rules: BranchRules): BundleFacts {
  const { envs, commit, repository } = meta;
  const ci = readCiFacts({ envs, commit, rules });
  const sha = text(commit.sha.trim(), MAX_SHA_LENGTH);
  const branch = storableText(ci.branch);
  const jobName = text(jobNameOf(ci, envs), MAX_NAME_LENGTH);
  const fields = {
    sha,
    branch,
    prNumber: ci.prNumber,
    jobName: jobName === '' ? null : jobName,
    // Pages show it as a link.
    jobUrl: /^https?:\/\//i.test(ci.jobUrl) ? text(ci.jobUrl, MAX_URL_LENGTH) : null,
    variant: storableText(meta.variant),
    candidateId: null,
    check: null,
    isFork: isForkRun(envs, repository),
    jobAttempt: jobAttemptOf(envs),
  };
  // Legs of a matrix have one name; the platform tells them apart if it differs.
  const platform = meta.os === null ? '' : text(meta.os, 50);
  const job = [jobName, platform].filter((part) => part !== '').join(' on ');
  return {
    facts: { kind: 'facts', fields, job, jobAttempt: fields.jobAttempt, isFork: fields.isFork },
    findings: checkUpload({ ...ci, sha, branch }),
  };
}

function text(value: string, maxLength: number): string {
  return storableText(value.slice(0, maxLength));
}

/**
 * Compares the failures in a bundle's reports with those in its list of runs. The uploader has its own report reader: a
 * failure that it does not list has no stored run. The list also has no nested suites: only the report says in which of
 * them a test failed.
 */

interface Entry {
  readonly paths: string[];
  listed: number;
  taken: number;
}

type Named = { readonly classname: string | null; readonly name: string };

class FailureLedger {
  /** Keyed by class and name only: the two sources sometimes write files and suites differently. */
  readonly #entries = new Map<string, Entry>();

  noteReported(test: Named & Pick<JunitCase, 'suites'>): void {
    this.#entryOf(test).paths.push(suitePathOf(test.suites));
  }

  noteListed(test: Named): void {
    this.#entryOf(test).listed += 1;
  }

  /** The number of reported failures that are not listed. */
  get missing(): number {
    let count = 0;
    for (const { paths, listed } of this.#entries.values()) count += Math.max(0, paths.length - listed);
    return count;
  }

  /** The path of the next listed failure of this name; null if reports and list disagree. */
  takePath(test: Named): string | null {
    const entry = this.#entryOf(test);
    if (entry.paths.length !== entry.listed) return null;
    entry.taken += 1;
    return entry.paths[entry.taken - 1] ?? null;
  }

  #entryOf({ classname, name }: Named): Entry {
    const key = Buffer.from(`${classname ?? ''}\n${name || classname}`).toString();
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry = { paths: [], listed: 0, taken: 0 };
    this.#entries.set(key, entry);
    return entry;
  }
}
