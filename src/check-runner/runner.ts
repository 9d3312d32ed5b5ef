/** A command to run in a folder of its own. */
export interface Job {
  /** Among the waiting shares, the one with the fewest running jobs goes first. */
  readonly share: string;
  /** Lower ranks go first within a share. */
  readonly rank: number;
  readonly command: string;
  /** Its "$@". */
  readonly args?: readonly string[];
  readonly timeoutMs: number;
  /** True when the command may use the network. Without a sandbox it can use it anyway. */
  readonly network: boolean;
  /** True when a sandboxed command may make user namespaces of its own. */
  readonly userNamespaces?: boolean;
  /** Further environment variables, besides PATH, HOME and TMPDIR. */
  readonly variables: Readonly<Record<string, string>>;
  /** Fills the folder, or answers a sentence why that can never succeed. If it throws, the job fails. */
  prepare(place: JobPlace): Promise<string | undefined>;
  /** Called when the folder is ready and the command starts. */
  onStart(): Promise<void>;
  /** Receives the output in order. The command blocks until this resolves. */
  onOutput(bytes: Buffer): Promise<void>;
  readonly reports?: JobReports;
  /** Names of programs that must be on PATH. */
  readonly tools?: readonly string[];
  readonly cache?: JobCache;
}

/** Paths that a command finds as an earlier run of the same check left them. Only a sandbox has them. */
export interface JobCache {
  /** The id of the repository. Commands of others never see what it keeps. */
  readonly repository: string;
  /** Caches stand in for each other only within one check of one branch. */
  readonly branch: string;
  readonly check: string;
  /** Globs of the files in the folder that say what belongs in it. */
  readonly key: readonly string[];
  /** `~/…` is in the home of the command, any other path in its folder. */
  readonly paths: readonly string[];
  /** Texts that the content follows from, besides the files and the tools. */
  readonly inputs: readonly string[];
  /** True when the content of another key is of use. */
  readonly isVerified: boolean;
  /** `store`: a passed command leaves what it began without. `fill`: only for that; it ends at once where that exists. */
  readonly use: 'read' | 'store' | 'fill';
  /** Called before the command starts, if the folder has files of the key. */
  onHit?(hit: CacheHit): void;
  /** Called when the command left one. */
  onKept?(): void;
}

export type CacheHit = 'exact' | 'fallback' | 'none';

export interface KeptCache {
  readonly repository: string;
  readonly branch: string;
  readonly check: string;
  /** Begins with what stands for branch, check, paths and system. */
  readonly key: string;
  readonly sizeBytes: number;
  readonly entries: number;
  readonly createdAt: Date;
  readonly usedAt: Date;
}

/** The caches on the disk of this server. */
export interface CheckCaches {
  readonly limitBytes: number;
  list(repository: string): Promise<readonly KeptCache[]>;
  remove(cache: Pick<KeptCache, 'repository' | 'key'>): Promise<void>;
}

export interface JobReports {
  /** Globs of paths within the folder. */
  readonly globs: readonly string[];
  /** Called before the files are searched. False: they are not. */
  begin?(): Promise<boolean>;
  /** Called once, when the command ended by itself, before the folder is removed. If it throws, the job fails. */
  take(left: LeftFiles): Promise<void>;
}

export interface LeftFiles {
  /** The folder's path as the command saw it. Reports name files by it. */
  readonly root: string;
  readonly files: readonly LeftFile[];
  /** Sentences why some files are missing. */
  readonly problems: readonly string[];
}

export interface LeftFile {
  /** Path within the folder. */
  readonly name: string;
  readonly sizeBytes: number;
  read(): AsyncIterable<Buffer>;
}

export interface JobPlace {
  /** An empty folder. */
  readonly folder: string;
  /** True when the command cannot read the server's files. */
  readonly isIsolated: boolean;
}

export type JobEnd =
  | { readonly kind: 'exited'; readonly code: number }
  /** Ended by a signal that the runner did not send. */
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed_out' }
  /** Killed by the kernel at the limit of its memory. */
  | { readonly kind: 'out_of_memory'; readonly memory: string }
  /** The job can never be run. */
  | { readonly kind: 'impossible'; readonly problem: string }
  /** The caller stopped the job. */
  | { readonly kind: 'stopped' };

/** From the strongest protection to none. */
export type ProtectionKind = 'bubblewrap' | 'namespaces' | 'users' | 'none';

export interface RunnerSafety {
  readonly protection: ProtectionKind;
  /** Tells the operator what the protection is, or why there is none. */
  readonly sentence: string;
  /** True when unprotected commands run although the operator did not declare them trusted. */
  readonly runsUntrusted: boolean;
  /** True when a command without `network` has none. */
  readonly closesNetwork: boolean;
}

/** Runs a limited number of commands at a time. When a job has ended, none of its processes and files are left. */
export interface CheckRunner {
  readonly safety: RunnerSafety;
  readonly caches: CheckCaches;
  /** True when so many jobs wait that another server would start the next one sooner. */
  readonly isCrowded: boolean;
  /** A sentence on how a command finds a program that it did not find. */
  explainMissing(program: string | undefined): Promise<string>;
  /** Throws when the command could not be started. */
  run(job: Job, stop: AbortSignal): Promise<JobEnd>;
  /** Stops the running jobs. */
  close(): Promise<void>;
}
