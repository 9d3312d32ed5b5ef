import type { Context } from '../core/context.ts';
import type { ReportFile } from './find-reports.ts';
import type { GivenFacts, UploadFacts } from './upload-facts.ts';

export interface UploadOptions extends GivenFacts {
  readonly org?: string;
  readonly exitCode?: number;
  readonly quarantine: boolean;
  readonly allowEmpty: boolean;
  readonly dryRun?: true;
  readonly wait?: true;
  readonly retries: number;
  /** A file, or false: none. Without a word the usual places are looked at. */
  readonly codeowners?: string | boolean;
}

/** What one run of the command works with. */
export interface UploadRun {
  readonly context: Context;
  readonly options: UploadOptions;
  readonly org: string;
  readonly facts: UploadFacts;
  readonly files: readonly ReportFile[];
  readonly codeOwners: ReportFile | undefined;
  /** The folder of the work tree: paths in reports are read relative to it. */
  readonly root: string;
}
