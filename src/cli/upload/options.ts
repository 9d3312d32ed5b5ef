import { parseIntegerWithin, parsePrNumber, parseRepo } from '../core/arguments.ts';
import { ORG_TEXT, REPO_OPTION_TEXT } from '../core/checkout.ts';
import type { Given } from '../core/command.ts';

export const UPLOAD_TAKES = {
  '<reports...>': 'Files, patterns such as "reports/**/*.xml", or folders (every .xml file below them).',
  '--org <slug>': ORG_TEXT,
  '-R, --repo <repo>': [REPO_OPTION_TEXT, parseRepo],
  '--sha <commit>': 'The commit that was tested.',
  '--branch <branch>': 'The branch that was tested.',
  '--pr <number>': ['The pull request that was tested.', parsePrNumber],
  '--job <name>': 'The name of the CI job. Results are compared within one job.',
  '--job-url <url>': 'The address of the CI job, for people.',
  '--variant <name>': 'The platform, such as linux-arm64: the same test on another one is another test.',
  '--test-run-id <id>': 'The candidate of a queue that was tested: the last part of its test branch.',
  '--check <name>': 'The check of the candidate that these are the results of.',
  '--fork': 'The commit is a fork\u2019s: its results count, and are evidence for nothing.',
  '--no-fork': 'The commit is not a fork\u2019s, whatever the environment of CI says.',
  '--attempt <number>': ['Which try of the job this is, from 1.', parseIntegerWithin(1, 999_999)],
  '--codeowners <file>':
    'The CODEOWNERS file that names the owners of the tests. Default: that of the checkout, in the places of forges.',
  '--no-codeowners': 'Send no owners.',
  '--exit-code <number>': ['The exit code of the test process.', parseIntegerWithin(0, 255)],
  '--no-quarantine': 'Do not ask what is quarantined.',
  '--no-allow-empty': 'Exit with 70 if no report is found.',
  '--dry-run': 'Read the reports and ask what is quarantined, but upload nothing.',
  '--wait': 'Wait until the upload is processed, and say how that went. Needs a token that may read.',
  '--retries <number>': {
    text: 'How often to try again if no server answers.',
    parse: parseIntegerWithin(0, 10),
    initial: 4,
  },
  '--allow-empty': { text: '', shown: '' },
} as const;

type GivenOptions = Omit<Given<typeof UPLOAD_TAKES>, 'reports...' | 'quarantine' | 'allowEmpty'>;

export interface UploadOptions extends GivenOptions {
  readonly quarantine: boolean;
  readonly allowEmpty: boolean;
}
