/** A command to be run in a folder of its own. */
export interface Job {
  /** Jobs of one name share a part of the machine: among names that wait, the one with the fewest running goes first. */
  readonly share: string;
  /** Among those that wait, lower ones go before others of their share. */
  readonly rank: number;
  readonly command: string;
  readonly timeoutMs: number;
  /** Whether the command may use the machine's network. One that is not kept from it at all may anyway. */
  readonly network: boolean;
  /** What the command sees of the world besides PATH, HOME and TMPDIR. */
  readonly variables: Readonly<Record<string, string>>;
  /** Fills the folder, or answers the sentence why that can never be done. Its failure is the job's. */
  prepare(place: JobPlace): Promise<string | undefined>;
  /** The folder is ready and the command begins. */
  onStart(): Promise<void>;
  /** Whatever it prints, in order. The command waits while this does. */
  onOutput(bytes: Buffer): Promise<void>;
  /** What it leaves behind is wanted. */
  readonly reports?: JobReports;
}

export interface JobReports {
  /** Of paths within the folder. */
  readonly globs: readonly string[];
  /** Called once, where the command ended by itself, before the folder is removed. Its failure is the job's. */
  take(left: LeftFiles): Promise<void>;
}

/** Files that the command wrote. */
export interface LeftFiles {
  /** What the command took for the path of the folder: reports name files by it. */
  readonly root: string;
  readonly files: readonly LeftFile[];
  /** Why there are not all of them, as sentences. */
  readonly problems: readonly string[];
}

export interface LeftFile {
  /** Within the folder. */
  readonly name: string;
  readonly sizeBytes: number;
  read(): AsyncIterable<Buffer>;
}

export interface JobPlace {
  /** Empty. */
  readonly folder: string;
  /** Whether the command cannot read what the server reads. */
  readonly isIsolated: boolean;
}

export type JobEnd =
  | { readonly kind: 'exited'; readonly code: number }
  /** Ended by a signal that was not ours. */
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timed_out' }
  /** It cannot be run, now or later. */
  | { readonly kind: 'impossible'; readonly problem: string }
  /** Nobody wants to know any more. */
  | { readonly kind: 'stopped' };

/** How commands are kept from the server and from each other, from the strongest to not at all. */
export type ProtectionKind = 'bubblewrap' | 'namespaces' | 'users' | 'none';

export interface RunnerSafety {
  readonly protection: ProtectionKind;
  /** For people: what the protection is, or why there is none. */
  readonly sentence: string;
  /** Whether commands run that nobody said to trust. */
  readonly runsUntrusted: boolean;
  /** Whether a command without `network` has none. */
  readonly closesNetwork: boolean;
}

/** Runs commands, few at a time. When a job has ended, nothing of it is left: no process, no file. */
export interface CheckRunner {
  readonly safety: RunnerSafety;
  /** Whether so much waits already that another job would begin sooner elsewhere. */
  readonly isCrowded: boolean;
  /** Faults where the command could not be started. */
  run(job: Job, stop: AbortSignal): Promise<JobEnd>;
  /** Stops what runs. */
  close(): Promise<void>;
}
