import { readFileSync } from 'node:fs';

/** The CPU time of this process and, on Linux, of its ended children: git and servers do most of the work. */
export function usedCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenCpuMs();
}

/** Of the ended children alone; 0 where that is not known. */
export function childrenCpuMs() {
  try {
    const text = readFileSync('/proc/self/stat', 'utf8');
    // Clock ticks of 10 ms. The command's name may have spaces and ends with the last parenthesis.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return 0;
  }
}
