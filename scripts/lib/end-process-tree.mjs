import { execFileSync } from 'node:child_process';

/**
 * Ends a process, its descendants, and all members of their process groups, because servers under test start their own
 * groups.
 *
 * @param {number} root
 */
export function endProcessTree(root) {
  // Processes that start while others are being ended are found in the next round.
  for (let round = 0; round < 5; round += 1) {
    const tree = listTree(root);
    if (tree.length === 0) return;
    for (const pid of tree) kill(pid);
  }
}

function listTree(root) {
  const tree = new Set([root]);
  const rows = listProcesses();
  for (let size = 0; size < tree.size; ) {
    size = tree.size;
    for (const { pid, parent, group } of rows) if (tree.has(parent) || tree.has(group)) tree.add(pid);
  }
  tree.delete(process.pid);
  return rows.map(({ pid }) => pid).filter((pid) => tree.has(pid));
}

function listProcesses() {
  if (process.platform === 'win32') return [];
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='], { encoding: 'utf8' });
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([pid, , , state]) => pid !== '' && state?.startsWith('Z') === false)
    .map(([pid, parent, group]) => ({ pid: Number(pid), parent: Number(parent), group: Number(group) }));
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
