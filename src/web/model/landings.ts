/** A landing, as the audit keeps it. */
export interface Landing {
  readonly kind: string;
  readonly sha: string;
  readonly pushedSha: string;
  readonly pushedTree: string;
  readonly testedTree: string;
  readonly waived?: readonly { readonly check: string }[];
}

interface Told {
  readonly isGood: boolean;
  readonly sentence: string;
}

/** Whether everything that landed is what was tested, in one sentence. */
export function describeLandings(landings: readonly Landing[], isWhole: boolean): Told {
  const unproven = landings.filter(({ kind }) => kind === 'UNPROVEN').length;
  const waived = countWaived(landings);
  const all = `${isWhole ? 'all' : 'the newest'} ${landings.length} ${landings.length === 1 ? 'landing' : 'landings'}`;
  if (landings.length === 0) return { isGood: true, sentence: 'Nothing landed in this time.' };
  const besides = waived === 0 ? '' : ` ${waived} with a check that quarantine waived.`;
  if (unproven === 0)
    return { isGood: true, sentence: `${capital(all)} verified: what landed is what was tested.${besides}` };
  return { isGood: false, sentence: `${unproven} of ${all} could not be proven.${besides}` };
}

/** Landings in spite of a failed check, as only quarantined tests failed in it. */
export function countWaived(landings: readonly Pick<Landing, 'waived'>[]): number {
  return landings.filter(({ waived = [] }) => waived.length > 0).length;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** How the content that landed relates to the content that was tested. */
export const PROOF_KINDS: Readonly<Record<string, string>> = {
  IDENTICAL: 'the tested commit',
  SAME_TREE: 'the tested files',
  COMPOSED: 'tested beside others',
  PREFIX: 'part of a tested batch',
  UNPROVEN: 'not proven',
};
