import type { AllCause, ImpactedTargets } from '../engine/model/targets.ts';

/** Why a change impacts everything. */
export function allCauseText({ code, name }: AllCause): string {
  switch (code) {
    case 'BARRIER':
      return `It changes what the barrier ${name} matches.`;
    case 'MANIFEST':
      return `It changes ${name}, and the target branch does not know yet what follows from that.`;
    case 'OTHERWISE':
      return `Nothing under targets in .sluice.yaml matches ${name}.`;
    case 'PROBLEM':
      return name;
  }
}

const FILE_CAUSES = {
  MANIFEST: 'a manifest or .sluice.yaml, whose edges the target branch does not know yet',
  OTHERWISE: 'nothing matches it',
  PROBLEM: 'nothing could be computed',
};

/** The same in a list of files. */
export function fileCauseText({ code, name }: AllCause): string {
  return code === 'BARRIER' ? `the barrier ${name}` : FILE_CAUSES[code];
}

const OVERLAPS = 'it overlaps every other pull request.';

/** A sentence on the targets of an entry and their source. */
export function targetsText(targets: ImpactedTargets): string {
  if (targets.kind === 'list') {
    return targets.from === 'sluice'
      ? 'Computed from the changed files by .sluice.yaml on the target branch.'
      : 'As uploaded for the head commit.';
  }
  if (targets.cause === 'declared') return `Uploaded as ALL: ${OVERLAPS}`;
  if (targets.by !== undefined) return `Computed as ALL: ${OVERLAPS} ${allCauseText(targets.by)}`;
  const how = targets.from === 'sluice' ? 'are impacted' : 'were uploaded';
  return `More than 100,000 targets ${how}: they count as ALL, and ${OVERLAPS}`;
}

/** One reason for a target of a file. */
export function hitText({ target, pattern, folder }: { target: string; pattern?: string; folder?: string }): string {
  return pattern === undefined ? `${target} (the package in ${folder})` : `${target} (by ${pattern})`;
}
