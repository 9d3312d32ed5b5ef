/** A pull request as the server answers it. */
interface Member {
  readonly prNumber: number;
  readonly prTitle?: string;
  readonly state?: string;
  readonly dependsOn?: readonly { readonly prNumber: number; readonly isMerged: boolean }[];
  readonly dependents?: readonly number[];
}

/**
 * The pull request between those directly on it and those that it is built on, the newest of each first: what lands
 * first is last. Titles and states are those of `read`, as far as they are there.
 */
export function ladderOf(entry: Member, read: readonly Member[]): readonly Member[] {
  const { dependsOn = [], dependents = [] } = entry;
  const find = (prNumber: number): Member => read.find((member) => member.prNumber === prNumber) ?? { prNumber };
  return [
    ...dependents.toSorted((one, other) => other - one).map(find),
    entry,
    ...dependsOn
      .toSorted((one, other) => other.prNumber - one.prNumber)
      .map(({ prNumber, isMerged }) => ({ ...find(prNumber), ...(isMerged && { state: 'MERGED' }) })),
  ];
}
