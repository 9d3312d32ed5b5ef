/** The rules of a repository's file under `targets`, as text. They are plain values that go to a thread and back. */
export interface Rules {
  readonly paths: readonly PathRule[];
  readonly readsWorkspaces: boolean;
  readonly barriers: readonly string[];
  /** The targets of a file that nothing matches. */
  readonly otherwise: 'ALL' | readonly string[];
}

export interface PathRule {
  readonly target: string;
  readonly patterns: readonly string[];
}

/** A package of a workspace. It is a target by its name. */
export interface Package {
  readonly name: string;
  readonly folder: string;
  /** Places in the list of packages of those that need it directly. */
  readonly dependents: readonly number[];
}

/** Everything that finds the targets of files, as one commit of the target branch has it. */
export interface Lanes {
  readonly rules: Rules;
  readonly packages: readonly Package[];
}

export type Problem = { readonly problem: string };

/** A file of a commit. Without text it is too large to be read. */
export interface Manifest {
  readonly path: string;
  readonly text?: string;
}

/** The reason why files impact everything. */
export interface AllCause {
  /** MANIFEST: its edges are not known to the target branch. PROBLEM: nothing could be computed. */
  readonly code: 'BARRIER' | 'MANIFEST' | 'OTHERWISE' | 'PROBLEM';
  /** The pattern, the path, or the sentence of the problem. */
  readonly name: string;
}

/** One changed file and the reason for its targets. */
export interface PlacedFile {
  readonly path: string;
  readonly all?: AllCause;
  /** Each with the pattern that matched, or the folder of the package. None: it has those of `otherwise`. */
  readonly hits: readonly Hit[];
}

export interface Hit {
  readonly target: string;
  readonly pattern?: string;
  readonly folder?: string;
}

export interface Placed {
  /** Absent: the targets are known. */
  readonly all?: AllCause;
  /** With all that depends on them; sorted. Empty if `all` is there. */
  readonly targets: readonly string[];
  readonly fileCount: number;
  /** Those that impact everything first, up to the number asked for. */
  readonly files: readonly PlacedFile[];
  /** For each package that was changed: the names of those that depend on it. */
  readonly dependents: readonly { readonly target: string; readonly names: readonly string[] }[];
}

export interface PlaceInput {
  readonly lanes: Lanes;
  readonly paths: readonly string[];
  /** How many files to tell of. */
  readonly shown: number;
}

/** Reads and places on a thread. Each call rejects when it takes too long or the thread ends. */
export interface LaneReader {
  /** Undefined: the file has no rules for targets. */
  parse(configuration: Uint8Array): Promise<Rules | Problem | undefined>;
  join(rules: Rules, manifests: readonly Manifest[]): Promise<Lanes | Problem>;
  place(input: PlaceInput): Promise<Placed>;
  stop(): Promise<void>;
}

/** Names of the files that workspaces are read from. */
export const MANIFESTS = ['package.json', 'pnpm-workspace.yaml', 'go.work', 'go.mod', 'Cargo.toml'] as const;

export const CONFIGURATION = '.sluice.yaml';

/** Ends reading with a sentence for the author of the file. */
export class BadManifest extends Error {}
