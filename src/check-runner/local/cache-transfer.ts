import type { CacheSource, OpenCache } from './cache-folder.ts';
import type { Keyed, SandboxPath } from './cache-key.ts';
import { innerMarkOf, ProcessTree } from './process-tree.ts';
import { type Protection, quote } from './protection.ts';
import type { User } from './user.ts';
import type { JobFolder } from './work-folder.ts';

/** A cache has no more files, folders and links. */
export const MAX_ENTRIES = 200_000;
const TRANSFER_MS = 10 * 60_000;
/** Enough for what tar says about a failure. */
const MAX_WORDS = 2_000;

/** The sandbox of a command in which its cache is unpacked and packed: before it starts, and after all of it ended. */
export interface Place {
  readonly protection: Protection;
  readonly folder: JobFolder;
  readonly user: User | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly mark: string;
  readonly stop: AbortSignal;
}

const NO_TAR = 'tar is not on PATH.';
/** The folder of home and tree in every sandbox. */
const ROOT = '/check';

/** After a failure the command begins as without a cache. */
const UNPACK = `
cd ${ROOT} || exit 1
command -v tar >/dev/null || { echo "${NO_TAR}"; exit 1; }
tar -xf - --no-same-owner --no-same-permissions <&4 2>&1 && exit 0
chmod -R u+rwx -- "$@" 2>/dev/null
rm -rf -- "$@"
exit 1`;

/** Nothing of the command runs any more. What it left is data for these programs, and no link in it is followed. */
const PACK = `
cd ${ROOT} || exit 1
command -v tar >/dev/null || { echo "${NO_TAR}"; exit 1; }
for path; do
  shift
  part=
  rest=$path
  while [ -n "$rest" ]; do
    part=$part\${part:+/}\${rest%%/*}
    case $rest in */*) rest=\${rest#*/} ;; *) rest= ;; esac
    [ ! -h "$part" ] || { echo "$part is a link."; exit 1; }
  done
  [ ! -e "$path" ] || set -- "$@" "$path"
done
[ $# -gt 0 ] || { echo "The check left nothing in its paths."; exit 1; }
odd=$(find "$@" ! -type f ! -type d ! -type l | head -n 1)
[ -z "$odd" ] || { echo "$odd is no file, folder or link."; exit 1; }
count=$(find "$@" | head -n ${MAX_ENTRIES + 1} | wc -l)
[ "$count" -le ${MAX_ENTRIES} ] || { echo "It has more than ${MAX_ENTRIES} entries."; exit 1; }
find "$@" ! -type l -perm /7000 -exec chmod a-st {} + || exit 1
tar -cf - -- "$@" >&4 || exit 1
echo "entries $((count))"`;

/** Undefined: it is there as it was stored. A sentence: nothing of it is. */
// SPEC R84
export async function unpack(place: Place, { paths }: Keyed, { file }: OpenCache): Promise<string | undefined> {
  const { code, words } = await runIn(place, commandOf(UNPACK, paths), { channel: file.fd }).end();
  return code === 0 ? undefined : firstLine(words);
}

interface Described {
  readonly branch: string;
  readonly check: string;
}

/** The paths as an archive. */
// SPEC R84, R85
export function pack(place: Place, { paths }: Keyed, facts: Described): CacheSource {
  const tree = runIn(place, commandOf(PACK, paths), { channel: 'pipe' });
  const ended = tree.end();
  // The reader of the content gets the failure too.
  ended.catch(() => undefined);
  return {
    content: tree.content,
    finish: async () => {
      const { code, words } = await ended;
      const entries = /^entries (\d+)$/m.exec(words)?.[1];
      return code === 0 && entries !== undefined ? { ...facts, entries: Number(entries) } : firstLine(words);
    },
  };
}

function commandOf(script: string, paths: readonly SandboxPath[]): string {
  const places = paths.map(({ root, path }) => quote(`${root}/${path}`));
  return `set -- ${places.join(' ')}\n${script}`;
}

function runIn(place: Place, command: string, { channel }: { readonly channel: number | 'pipe' }) {
  const { protection, folder, user, mark, stop } = place;
  let words = '';
  const started = protection
    .wrap({ command, folder, mark: innerMarkOf(mark), network: false, userNamespaces: false })
    .then((wrapped) => {
      const environment = { ...place.environment, ...wrapped.variables };
      const onOutput = async (bytes: Buffer) => {
        words = `${words}${bytes}`.slice(-MAX_WORDS);
      };
      return new ProcessTree({ wrapped, folder: folder.tree, environment, user, mark, channel, onOutput });
    });
  const stopTree = () => void started.then((tree) => tree.stop()).catch(() => undefined);
  const end = async () => {
    const tree = await started;
    const timer = setTimeout(stopTree, TRANSFER_MS);
    stop.addEventListener('abort', stopTree, { once: true });
    if (stop.aborted) stopTree();
    try {
      const { code } = await tree.end();
      return { code, words: tree.complaint === undefined ? words : tree.complaint };
    } finally {
      clearTimeout(timer);
      stop.removeEventListener('abort', stopTree);
    }
  };
  return { end, content: contentOf(started) };
}

async function* contentOf(started: Promise<ProcessTree>): AsyncGenerator<Buffer> {
  yield* (await started).written;
}

function firstLine(words: string): string {
  const line = words.trim().split('\n')[0] ?? '';
  return line === '' ? 'It was interrupted.' : line.slice(0, 300);
}
