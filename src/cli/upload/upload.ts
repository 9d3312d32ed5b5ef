import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { createTestIds } from '../../flaky/identity/test-id.ts';
import { succeeds } from '../../lib/succeeds.ts';
import { chooseOrg, chooseUploadRepo, findCheckout } from '../core/checkout.ts';
import { row } from '../core/command.ts';
import type { Context } from '../core/context.ts';
import { CliError, usageError } from '../core/exit.ts';
import { say } from '../core/terminal.ts';
import type { Quarantine, UploadEnd } from './exit-code.ts';
import { type FailingTest, lookUp } from './failing-tests.ts';
import { findReports, findRoot, type ReportFile } from './find-reports.ts';
import { UPLOAD_TAKES, type UploadOptions } from './options.ts';
import { type ReadReports, readReports } from './read-reports.ts';
import { type Sent, sendReports, type UploadRun } from './send-reports.ts';
import { showEnd } from './show-end.ts';
import { chooseFacts } from './upload-facts.ts';

const EXIT_TEXT = `Exit codes:
  0    no test fails, or every failing test is quarantined, or quarantine is
       switched off for the repository
  1    a failing test is not quarantined, or that could not be found out; or a
       report is broken beside quarantined failures, or tells of a failure
       that belongs to no test
  N    with --exit-code N: N instead of 0 and 1, except that 0 stays where every
       failing test is quarantined
  2    wrong usage; also where repository, commit or branch are not known
  70   the server refuses the token, the organization or the upload as such
       (401, 403, 404); or no report was found with --no-allow-empty
An upload that fails otherwise is a warning: tests are not to blame for it.`;

export const UPLOAD = row({
  text:
    'Upload JUnit reports, and fail only for tests that are not quarantined. ' +
    'The commit, the branch and the job are taken from the environment of CI and from git.',
  takes: UPLOAD_TAKES,
  examples: [
    "sluice upload 'reports/**/*.xml'",
    'code=0; npm test || code=$?; sluice upload reports --exit-code $code   # fails only for what is not quarantined',
    'sluice upload junit.xml --repo github.com/acme/app --sha "$(git rev-parse HEAD)" --branch main --variant arm64',
    'sluice upload junit.xml --test-run-id 0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55 --check test',
    'sluice upload reports --dry-run',
  ],
  more: EXIT_TEXT,
  run: (context, { 'reports...': patterns, ...options }) =>
    upload(context, patterns, { quarantine: true, allowEmpty: true, ...options }),
});

async function upload(context: Context, patterns: readonly string[], options: UploadOptions): Promise<void> {
  const { files, unmatched } = await findReports(patterns, process.cwd());
  for (const pattern of unmatched) say(`sluice: No file fits ${pattern}.`);
  if (files.length === 0) return showEnd(context, { end: describeEnd(options, 0) });
  const facts = await chooseFacts(options, {
    environment: process.env,
    findCheckout,
    findRepo: async (checkout) => chooseUploadRepo(await listKnown(context), checkout),
  });
  const codeOwners = await chooseCodeOwners(options.codeowners, { folder: process.cwd(), say });
  const root = await findRoot(process.cwd());
  const run: UploadRun = { context, options, org: chooseOrg(options.org), facts, files, codeOwners, root };
  const testIds = createTestIds({ org: run.org, repository: facts.repo, variant: facts.variant });
  const reports = await readReports(files, { testIds, root });
  // Asked before the upload: these results must not influence the decision about themselves.
  const quarantine = await askForQuarantine(run, reports);
  const sent: Sent = options.dryRun ? { kind: 'none' } : await sendReports(run);
  const end = describeEnd(options, files.length, { reports, quarantine, sent });
  await showEnd(context, { end, run, reports, sent });
}

/** None where the server does not say: a token of CI may often only upload. */
async function listKnown({ client }: Context) {
  try {
    return (await client.call('listRepositories', {}, { retries: 0, timeoutMs: 10_000 })).repositories;
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}

async function askForQuarantine(run: UploadRun, { failing, rerun }: ReadReports): Promise<Quarantine> {
  const { context, options, org, facts } = run;
  if (!options.quarantine || failing.length === 0) return { kind: 'not_asked' };
  const { repo, variant } = facts;
  return lookUp(context, [...failing, ...rerun], { org, repo, variant, retries: options.retries, say });
}

interface Found {
  readonly reports: ReadReports;
  readonly quarantine: Quarantine;
  readonly sent: Sent;
}

function describeEnd(options: UploadOptions, files: number, found?: Found): UploadEnd {
  const { failing = [], rerun = [] } = found?.reports ?? {};
  const quarantine = found?.quarantine ?? { kind: 'not_asked' };
  const isHeld = ({ id }: FailingTest) => quarantine.kind === 'known' && quarantine.ids.has(id);
  return {
    given: options.exitCode,
    files,
    failing: failing.length,
    openReruns: rerun.filter((test) => !isHeld(test)).length,
    unaccounted: found?.reports.unaccounted ?? 0,
    isWhole: found === undefined || found.reports.troubled.length === 0,
    quarantine:
      quarantine.kind === 'known'
        ? { ...quarantine, ids: new Set(failing.filter(isHeld).map(({ id }) => id)) }
        : quarantine,
    sent: found?.sent.kind ?? 'none',
    isEmptyAllowed: options.allowEmpty,
  };
}

/** The places in which forges look; the first existing one counts. */
const PLACES = [
  '.github/CODEOWNERS',
  'CODEOWNERS',
  'docs/CODEOWNERS',
  '.gitlab/CODEOWNERS',
  '.bitbucket/CODEOWNERS',
] as const;

/** The server accepts no more. */
const MAX_BYTES = 3_000_000;

/** The named CODEOWNERS, else that of the checkout. False: none is sent. */
export async function chooseCodeOwners(
  named: string | boolean | undefined,
  { folder, say }: { readonly folder: string; readonly say: (text: string) => void },
): Promise<ReportFile | undefined> {
  if (named === false) return undefined;
  const found = typeof named === 'string' ? await getNamed(named, folder) : await findInCheckout(folder);
  if (found === undefined || found.sizeBytes <= MAX_BYTES) return found;
  say(`sluice: ${found.name} is larger than 3 MB and is not sent.`);
  return undefined;
}

async function getNamed(named: string, folder: string): Promise<ReportFile> {
  const found = await describe(folder, named);
  if (found === undefined) throw usageError(`There is no file ${named} that can be read.`);
  return found;
}

async function findInCheckout(folder: string): Promise<ReportFile | undefined> {
  const root = await findRoot(folder);
  for (const place of PLACES) {
    const found = await describe(root, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The name includes the folder, which decides the grammar. */
async function describe(folder: string, name: string): Promise<ReportFile | undefined> {
  const file = path.resolve(folder, name);
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile() || !(await succeeds(access(file, constants.R_OK)))) return undefined;
  return { name: name.split(path.sep).join('/'), path: file, sizeBytes: found.size };
}
