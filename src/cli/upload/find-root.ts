import { stat } from 'node:fs/promises';
import path from 'node:path';

/** The work tree around a folder; the folder itself where there is none, as in an image of sources alone. */
export async function findRoot(folder: string): Promise<string> {
  for (let each = folder; ; each = path.dirname(each)) {
    if ((await stat(path.join(each, '.git')).catch(() => undefined)) !== undefined) return each;
    if (path.dirname(each) === each) return folder;
  }
}
