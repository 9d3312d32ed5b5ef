/** A pull request as the server answers it. */
interface Member {
  readonly prNumber: number;
  readonly prTitle: string;
  readonly state?: string;
  readonly dependsOn?: readonly { readonly prNumber: number; readonly isMerged: boolean }[];
  readonly dependents?: readonly number[];
}

export interface Rung {
  readonly prNumber: number;
  /** Undefined until it is read, and where it was never submitted. */
  readonly title: string | undefined;
  readonly state: string | undefined;
  readonly isPresent: boolean;
}

/** As many as the server answers at once. */
const MAX_RUNGS = 50;

/** The pull requests directly above and below this one. */
export function neighboursOf({ dependsOn = [], dependents = [] }: Member): readonly number[] {
  return [...new Set([...dependsOn.map(({ prNumber }) => prNumber), ...dependents])].slice(0, MAX_RUNGS);
}

/** The stack around a pull request, from its top to its bottom. What lands first is last. */
export function ladderOf(entry: Member, read: readonly Member[]): readonly Rung[] {
  const { dependsOn = [] } = entry;
  const members = new Map(read.map((member) => [member.prNumber, member]));
  const below = new Set(dependsOn.map(({ prNumber }) => prNumber));
  const merged = new Set(dependsOn.flatMap(({ prNumber, isMerged }) => (isMerged ? prNumber : [])));
  const shown = neighboursOf(entry);
  const toRung = (prNumber: number): Rung => {
    const { prTitle: title, state } = members.get(prNumber) ?? {};
    return { prNumber, title, state: merged.has(prNumber) ? 'MERGED' : state, isPresent: false };
  };
  const { prNumber, prTitle, state } = entry;
  return [
    ...fromTop(
      shown.filter((number) => !below.has(number)),
      members,
    ).map(toRung),
    { prNumber, title: prTitle, state, isPresent: true },
    ...fromTop(
      shown.filter((number) => below.has(number)),
      members,
    ).map(toRung),
  ];
}

/** The newest first, but none below what it is built on. */
function fromTop(numbers: readonly number[], members: ReadonlyMap<number, Member>): readonly number[] {
  const left = [...numbers].sort((one, other) => other - one);
  const isOn = (one: number, other: number) =>
    members.get(one)?.dependsOn?.some(({ prNumber }) => prNumber === other) === true;
  const sorted: number[] = [];
  while (left.length > 0) {
    const index = left.findIndex((number) => !left.some((other) => isOn(other, number)));
    sorted.push(...left.splice(Math.max(0, index), 1));
  }
  return sorted;
}
