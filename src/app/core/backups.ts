import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import type { CopyProgress, Store } from '../../storage/store.ts';

interface WrittenBackup {
  /** The state of this instant is in it. */
  readonly at: Instant;
  readonly sizeBytes: number;
}

interface BackupPlace {
  readonly folder: string;
  /** The operator named the folder. It is not created: it may be on a disk that is not mounted now. */
  readonly isChosen: boolean;
  /** The server makes backups by itself. */
  readonly isScheduled?: boolean;
}

const TIME = String.raw`(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)`;
/** Names that `nameBackup` makes, with or without the prefix of scheduled backups. */
const NAME = new RegExp(`^(?:sluice-)?${TIME}\\.(?:db|dump)$`);

/** A copy of the embedded store, or a dump of PostgreSQL. */
type BackupKind = 'db' | 'dump';

export function nameBackup(at: Instant, prefix = '', kind: BackupKind = 'db'): string {
  return `${prefix}${formatInstant(at).replaceAll(':', '-')}.${kind}`;
}

export function kindOfBackups({ writeDump }: Pick<Store, 'writeDump'>): BackupKind {
  return writeDump === undefined ? 'db' : 'dump';
}

/** The folder of backups, and what is known of the backups of this server. */
export class Backups {
  readonly place: BackupPlace;
  /** The backup that is being written; undefined while none is. */
  underWay: CopyProgress | undefined;
  last: WrittenBackup | undefined;
  readonly #stopping = new AbortController();
  /** Scheduled backups that failed since the start. */
  failures = 0;

  constructor(place: BackupPlace) {
    this.place = place;
  }

  /** Ends a dump that is under way: the server stops. */
  stop(): void {
    this.#stopping.abort();
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Finds the latest backup of an earlier life of the server. */
  async load(): Promise<void> {
    const { folder } = this.place;
    const names = (await readdir(folder).catch(() => [])).filter((name) => NAME.test(name));
    const latest = names.toSorted((a, b) => timeIn(a) - timeIn(b)).at(-1);
    const found = latest && (await stat(path.join(folder, latest)).catch(() => undefined));
    if (latest && found) this.last = { at: timeIn(latest), sizeBytes: found.size };
  }

  /** Says what is wrong with the folder of this file, as a sentence; undefined if nothing is. */
  async findFolderProblem(file: string): Promise<string | undefined> {
    const folder = path.dirname(file);
    if (folder === this.place.folder && !this.place.isChosen) return undefined;
    const found = await stat(folder).catch(() => undefined);
    if (found === undefined) return `The folder ${folder} does not exist on the server's machine. Create it first.`;
    return found.isDirectory() ? undefined : `${folder} is not a folder.`;
  }
}

function timeIn(name: string): Instant {
  return Date.parse(name.replace(NAME, '$1:$2:$3'));
}
